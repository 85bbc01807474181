import type { Config } from '../config.ts';
import { createHttpApp, type HttpOptions } from '../http/app.ts';
import type { Log, Logger } from '../log.ts';
import { createService } from '../service/create-service.ts';

/** Opens the service and its HTTP interface: the whole service, or a node of a cluster that answers clients. */
export async function open(config: Config, log: Log) {
  const service = await createService(config, log.logger, log);
  return { service, app: createHttpApp(service, httpOptions(config, log.logger)) };
}

function httpOptions(config: Config, logger: Logger): HttpOptions {
  const { apiKey: apiKeys, namedKeys, maxBatch, timeoutMs: defaultTimeoutMs, maxTimeoutMs } = config;
  const allowedHosts = [config.host, ...config.allowedHosts];
  return { apiKeys, namedKeys, allowedHosts, maxBatch, defaultTimeoutMs, maxTimeoutMs, logger };
}
