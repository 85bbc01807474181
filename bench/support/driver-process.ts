import type { DriverModule, DriverOptions } from './driver.ts';
import { inFlight } from './driver.ts';
import type { DriverAnswer, DriverOrder } from './driver-contender.ts';

/* The child's side of `driver-contender.ts`: holds one driver, and says when it is open and when an order is done. */

const [, , module = '', settings = ''] = process.argv;
const options: DriverOptions = JSON.parse(settings);
const { open }: DriverModule = await import(module);
const driver = await open(options);
const answer = (what: DriverAnswer) => process.send?.(what);

const capture = async (url: string): Promise<boolean> => {
  try {
    await driver.capture(url, options.fullPage ?? false);
    return true;
  } catch (error) {
    if (options.timeoutMs === undefined) throw error;
    return false;
  }
};

process.on('message', ({ urls, concurrency }: DriverOrder) =>
  inFlight(urls, concurrency, capture).then(
    (captured) => answer({ captured }),
    (error: unknown) => answer({ failed: String(error) }),
  ),
);
// The browser ends with this process, whatever happened to the parent.
process.on('disconnect', () => driver.close().finally(() => process.exit()));
answer({ captured: 0 });
