import type { Driver, DriverModule } from './driver.ts';
import type { DriverAnswer, DriverOrder } from './driver-contender.ts';

/* The child's side of `driver-contender.ts`: holds one driver and executes orders one after another. */

const { open }: DriverModule = await import(process.argv[2] ?? '');
let driver: Driver | undefined;

async function obey(order: DriverOrder): Promise<DriverAnswer> {
  if (order.type === 'open') driver = await open(order.options);
  else if (driver === undefined) return { type: 'failed', reason: 'not open' };
  else if (order.type === 'run') return { type: 'done', work: await driver.run(order.urls, order.concurrency) };
  else await driver.close();
  return { type: 'done', work: null };
}

process.on('message', async (order: DriverOrder) => {
  const answer = await obey(order).catch((error: unknown): DriverAnswer => ({ type: 'failed', reason: String(error) }));
  process.send?.(answer);
});
// The browser ends with this process, whatever happened to the parent.
process.on('disconnect', () => process.exit());
