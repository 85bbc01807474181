import type { Config } from '../config/mod.ts';
import { createHttpApp, type HttpOptions } from '../http/app.ts';
import { KeyRing } from '../http/keys/key-ring.ts';
import type { Log, Logger } from '../log/log.ts';
import { createService } from '../service/create-service.ts';

/** Opens the service and its HTTP interface: the whole service, or a node of a cluster that answers clients. */
export async function open(config: Config, log: Log) {
  const tracing = config.otlpUrl === null ? undefined : await openTraces(config.otlpUrl, log.logger);
  const service = await createService(config, log.logger, log);
  tracing?.follow(service.events$);
  const keyRing = new KeyRing({ apiKeys: config.apiKey, namedKeys: config.namedKeys });
  const app = createHttpApp(service, { ...httpOptions(config, log.logger), keyRing, tracing });
  return { service, app, keyRing, close: () => tracing?.close() };
}

function httpOptions(config: Config, logger: Logger): HttpOptions {
  const {
    apiKey: apiKeys,
    namedKeys,
    isolateKeys,
    signingKey: signingKeys,
    maxShareDays,
    corsOrigins,
    maxBatch,
    maxSubscribers,
    timeoutMs: defaultTimeoutMs,
    maxTimeoutMs,
  } = config;
  const allowedHosts = [config.host, ...config.allowedHosts];
  const common = { apiKeys, namedKeys, isolateKeys, signingKeys, corsOrigins, allowedHosts };
  return { ...common, maxShareDays, maxBatch, maxSubscribers, defaultTimeoutMs, maxTimeoutMs, logger };
}

/** Loads OpenTelemetry on demand. */
async function openTraces(url: string, logger: Logger) {
  const { openTracing } = await import('../tracing/open-tracing.ts');
  return openTracing(url, (text) => logger.warn(text));
}
