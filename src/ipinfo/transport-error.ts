import { TimeoutError as GotTimeoutError, RequestError } from 'got';
import {
  BodyTooLargeError,
  InvalidResponseError,
  type IpapiError,
  type IpapiErrorDetails,
  LimiterError,
  NetworkError,
  TimeoutError,
} from './errors.ts';
import type { Settings } from './options.ts';
import type { Redact } from './redact.ts';

/** A local reason to end an exchange: the limiter rejected, or the body exceeded the limit. */
export type Obstacle = 'limiter' | 'body' | null;

interface BrokenExchange {
  readonly obstacle: Obstacle;
  readonly status: number | null;
  readonly attempts: number;
  readonly timeoutMs: number;
  readonly settings: Settings;
}

/** Returns whether the body arrived but cannot be decompressed, so that a retry would not help. */
export function isCorruptBody(error: unknown): boolean {
  return /^(?:Z_|ERR_BROTLI|ERR__ERROR|ZSTD_)/.test(innermostCode(error));
}

/** Error code of a broken exchange (`ECONNRESET`); null when a complete answer arrived. */
export function failureCode(error: unknown): string | null {
  if (error === null) return null;
  if (error instanceof GotTimeoutError) return 'ETIMEDOUT';
  const code = innermostCode(error);
  return code === 'ERR_NON_2XX_3XX_RESPONSE' ? null : code;
}

/** got's own codes name the stage that failed; the code of the cause names the failure. */
function innermostCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return codeOf(cause) ?? codeOf(error) ?? 'UNKNOWN';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns the error for an exchange without an answer. */
export function toTransportError(error: unknown, broken: BrokenExchange): IpapiError {
  const { obstacle, status, attempts, timeoutMs, settings } = broken;
  const cause = cleanCause(error, settings.redact);
  const details: IpapiErrorDetails = { status, attempts, reason: failureCode(error) ?? '', cause };
  if (obstacle === 'limiter') {
    return new LimiterError(`The rate limiter failed: ${cause.message}`, { ...details, reason: '' });
  }
  if (obstacle === 'body') {
    const message = `The body is larger than ${settings.maxBodyBytes} bytes.`;
    return new BodyTooLargeError(message, { status, attempts });
  }
  if (isCorruptBody(error)) return new InvalidResponseError('The body cannot be decompressed.', details);
  if (error instanceof GotTimeoutError) {
    return new TimeoutError(`No complete answer within ${timeoutMs} ms.`, { ...details, retryable: true });
  }
  return new NetworkError(`No complete answer: ${cause.message}`, { ...details, retryable: true });
}

/** got's errors hold the request with its key, so only the redacted text and code are kept. */
function cleanCause(error: unknown, redact: Redact): Error {
  const message = redact(error instanceof Error ? error.message : String(error));
  const cause = new Error(message === '' ? 'unknown error' : message);
  if (error instanceof RequestError) Object.assign(cause, { code: innermostCode(error) });
  return cause;
}
