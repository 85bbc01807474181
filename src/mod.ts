import { availableParallelism } from 'node:os';
import { type Logger, pino } from 'pino';
import { type CaptureOptions, type CaptureRequest, requestSchemas } from './capture/request.ts';
import { parseOrRefuse } from './capture/validate.ts';
import { configOf } from './config/mod.ts';
import type { ServiceConfig } from './config/slices.ts';
import { type CaptureService, createService as joinParts } from './service/create-service.ts';

/*
 * The library: `import { createService } from 'capstan'`.
 */

export type { CaptureFormat, ImageFormat } from './capture/artifacts/formats.ts';
export { CapstanError, type Failure, type FailureCode } from './capture/errors.ts';
export type { CapstanEvent } from './capture/events.ts';
export type { ServiceStats } from './capture/operation/stats.ts';
export type { BatchItem, CaptureOutcome } from './capture/outcome.ts';
export type { CaptureOptions, CaptureRequest } from './capture/request.ts';
export type { Evidence, EvidenceKind } from './capture/result/evidence.ts';
export type { Result } from './capture/result/result.ts';
export { ConfigError } from './config/mod.ts';
export type { ServiceConfig } from './config/slices.ts';
export type { CaptureService } from './service/create-service.ts';

/** Options of `capstan serve` by their configuration keys; omitted options have their defaults. */
type EmbeddedConfig = { readonly [name in keyof ServiceConfig]?: ServiceConfig[name] | undefined };

/**
 * Starts a service without an HTTP server: browsers, egress and stores. Reads no environment variables and no
 * configuration file. Stop the service with `stop()`; until then its browsers keep the process alive.
 *
 * @param logger Receives what the server would log. @default silent
 * @throws ConfigError for an option that is not valid.
 */
export async function createService(
  config: EmbeddedConfig = {},
  logger: Logger = pino({ level: 'silent' }),
): Promise<CaptureService> {
  const service = await joinParts(configOf(config, { cores: availableParallelism() }), logger);
  await service.started;
  return service;
}

/**
 * Validates a URL and options as `POST /screenshot` does, and returns the capture request.
 *
 * @throws CapstanError with code `invalid_request`, which names every invalid field.
 */
export function captureRequest(url: string, options: CaptureOptions = {}): CaptureRequest {
  const { timeoutMs, maxTimeoutMs } = configOf({}, { cores: 1 });
  const limits = { maxBatch: 1, timeoutMs, maxTimeoutMs, callbacks: true };
  return parseOrRefuse(requestSchemas(limits).screenshot, { ...options, url });
}
