import { startMongo } from '../../test/support/mongo.ts';
import { startNats } from '../../test/support/nats.ts';
import { type ServiceOptions, type ServiceProcess, startServiceProcess } from './service-process.ts';

/**
 * Starts the service, and what it needs, until `running` is disposed of. `where`: `sqlite`, `mongo` or `cluster`, whose
 * measured process is an api node.
 */
export async function startServiceOn(
  where: string,
  options: ServiceOptions,
  running: AsyncDisposableStack,
): Promise<ServiceProcess> {
  if (where === 'sqlite') return running.use(await startServiceProcess(options));
  const mongo = running.adopt(await startMongo(), (server) => server.remove());
  const database = ['--mongo-url', mongo.url];
  if (where !== 'cluster') return running.use(await startServiceProcess({ ...options, database }));
  const nats = running.adopt(await startNats(), (server) => server.remove());
  const { args = [], env: _probe, ...others } = options;
  const node = (role: string) => ({ database, args: [...args, '--nats-url', nats.url, '--role', role] });
  running.use(await startServiceProcess({ ...others, ...node('worker') }));
  return running.use(await startServiceProcess({ ...options, ...node('api') }));
}
