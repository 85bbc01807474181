import type { Config } from '../config.ts';
import { createWorkerApp } from '../http/app.ts';
import type { Log } from '../log.ts';
import { createWorker } from '../service/create-worker.ts';

/** Opens a worker of a cluster, with its probes and figures. */
export async function open(config: Config, log: Log) {
  const service = await createWorker(config, log.logger, log);
  const { apiKey: apiKeys, allowedHosts, host } = config;
  return {
    close: () => undefined,
    service,
    app: createWorkerApp(service, { apiKeys, allowedHosts: [host, ...allowedHosts], logger: log.logger }),
  };
}
