import { availableParallelism } from 'node:os';
import { type Logger, pino } from 'pino';
import { type CaptureOptions, type CaptureRequest, requestSchemas } from './capture/request.ts';
import { parseOrRefuse } from './capture/validate.ts';
import { configOf } from './config.ts';
import { type CaptureService, createService as joinParts, type ServiceConfig } from './service/create-service.ts';

/*
 * What a Node program that embeds Capstan imports: `import { createService } from 'capstan'`.
 */

export { CapstanError, type Failure, type FailureCode } from './capture/errors.ts';
export type { CapstanEvent } from './capture/events.ts';
export type { Evidence, EvidenceKind } from './capture/evidence.ts';
export type { CaptureFormat, ImageFormat } from './capture/options/screenshot.ts';
export type { BatchItem, CaptureOutcome } from './capture/outcome.ts';
export type { CaptureOptions, CaptureRequest } from './capture/request.ts';
export type { Result } from './capture/result.ts';
export type { ServiceStats } from './capture/stats.ts';
export { ConfigError } from './config.ts';
export type { CaptureService, ServiceConfig } from './service/create-service.ts';

/** Options of `capstan serve`, by their keys in a configuration file; what is left out has its default. */
export type EmbeddedConfig = { readonly [name in keyof ServiceConfig]?: ServiceConfig[name] | undefined };

/**
 * Starts a service without a server: its browsers, its way out, its stores. No environment variable and no file is
 * read. `logger` hears what the server's log would say; by default nobody does. Rejects with a `ConfigError` for an
 * option that cannot be. To be stopped with `stop()`, else its browsers and the process stay.
 */
export async function createService(
  config: EmbeddedConfig = {},
  logger: Logger = pino({ level: 'silent' }),
): Promise<CaptureService> {
  return joinParts(configOf(config, { cores: availableParallelism() }), logger);
}

/**
 * A request as `POST /screenshot` takes it: `https://` is put before a `url` that has no scheme. Throws a
 * `CapstanError` `invalid_request` that names every bad field.
 */
export function captureRequest(url: string, options: CaptureOptions = {}): CaptureRequest {
  const { timeoutMs, maxTimeoutMs } = configOf({}, { cores: 1 });
  const limits = { maxBatch: 1, defaultTimeoutMs: timeoutMs, maxTimeoutMs, callbacks: true };
  return parseOrRefuse(requestSchemas(limits).screenshot, { ...options, url });
}
