import { startMongo } from '../../test/support/mongo.ts';
import { startNats } from '../../test/support/nats.ts';
import { type ServiceOptions, startServiceProcess } from './service-process.ts';

/**
 * Starts the service, and what it needs. `where`: `sqlite`, `mongo` or `cluster`, whose measured process is an api
 * node.
 */
export async function startServiceOn(where: string, options: ServiceOptions) {
  if (where === 'sqlite') {
    const service = await startServiceProcess(options);
    return { service, stop: () => service.stop() };
  }
  const mongo = await startMongo();
  const database = ['--mongo-url', mongo.url];
  if (where !== 'cluster') {
    const service = await startServiceProcess({ ...options, database });
    return { service, stop: () => service.stop().then(() => mongo.remove()) };
  }
  const nats = await startNats();
  const { args = [], env: _probe, ...others } = options;
  const node = (role: string) => ({ database, args: [...args, '--nats-url', nats.url, '--role', role] });
  const service = await startServiceProcess({ ...options, ...node('api') });
  const worker = await startServiceProcess({ ...others, ...node('worker') });
  const stop = async () => {
    await Promise.all([service.stop(), worker.stop()]);
    await Promise.all([nats.remove(), mongo.remove()]);
  };
  return { service, stop };
}
