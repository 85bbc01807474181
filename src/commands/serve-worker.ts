import type { Config } from '../config/mod.ts';
import { createWorkerApp } from '../http/app.ts';
import { KeyRing } from '../http/keys/key-ring.ts';
import type { Log } from '../log/log.ts';
import { createWorker } from '../service/create-worker.ts';

/** Opens a worker of a cluster, with its probes and figures. */
export async function open(config: Config, log: Log) {
  const service = await createWorker(config, log.logger, log);
  const { apiKey: apiKeys, namedKeys, allowedHosts, host } = config;
  const keyRing = new KeyRing({ apiKeys, namedKeys });
  return {
    close: () => undefined,
    service,
    keyRing,
    app: createWorkerApp(service, { apiKeys, keyRing, allowedHosts: [host, ...allowedHosts], logger: log.logger }),
  };
}
