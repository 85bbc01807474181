export type IpapiErrorCode =
  | 'invalid_argument'
  | 'invalid_ip'
  | 'reserved_ip'
  | 'invalid_key'
  | 'rate_limited'
  | 'not_found'
  | 'method_not_allowed'
  | 'server_error'
  | 'unexpected_status'
  | 'network_error'
  | 'timeout'
  | 'body_too_large'
  | 'invalid_response'
  | 'limiter_failed';

export interface IpapiErrorDetails {
  /** HTTP status of the answer; null (the default) when there was none. */
  readonly status?: number | null;
  /** What the upstream gave as its reason, or the network's error code; `''` when there is neither. */
  readonly reason?: string;
  /** Attempts that were made; 0 when nothing was sent. */
  readonly attempts?: number;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
  readonly cause?: Error | undefined;
}

/**
 * What every operation fails with (an aborted one fails with its signal's reason instead). No text of it, nor of its
 * cause, shows the key.
 */
export abstract class IpapiError extends Error {
  abstract readonly code: IpapiErrorCode;
  readonly status: number | null;
  readonly reason: string;
  readonly attempts: number;
  readonly retryable: boolean;

  constructor(message: string, details: IpapiErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.status = details.status ?? null;
    this.reason = details.reason ?? '';
    this.attempts = details.attempts ?? 0;
    this.retryable = details.retryable ?? false;
  }

  toJSON(): Record<string, unknown> {
    return {
      name: this.name,
      code: this.code,
      message: this.message,
      status: this.status,
      reason: this.reason,
      attempts: this.attempts,
      retryable: this.retryable,
    };
  }
}

/** A format, a field or an option that cannot be; nothing was sent. */
export class InvalidArgumentError extends IpapiError {
  override readonly name = 'InvalidArgumentError';
  override readonly code = 'invalid_argument';
}

/** Not an IPv4 or IPv6 address, whether found here (`status` is null, nothing was sent) or by the upstream. */
export class InvalidIPError extends IpapiError {
  override readonly name = 'InvalidIPError';
  override readonly code = 'invalid_ip';
}

/** A private or otherwise reserved address, about which nothing can be known. */
export class ReservedIPError extends IpapiError {
  override readonly name = 'ReservedIPError';
  override readonly code = 'reserved_ip';
}

/** The key is wrong; or, when none was sent, the upstream blocks this network. */
export class InvalidKeyError extends IpapiError {
  override readonly name = 'InvalidKeyError';
  override readonly code = 'invalid_key';
}

/** The allowance is used up. Never tried again by the client itself. */
export class RateLimitedError extends IpapiError {
  override readonly name = 'RateLimitedError';
  override readonly code = 'rate_limited';
  /** Milliseconds after which to try again; null when the upstream did not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, details: IpapiErrorDetails & { readonly retryAfterMs: number | null }) {
    super(message, details);
    this.retryAfterMs = details.retryAfterMs;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), retryAfterMs: this.retryAfterMs };
  }
}

/** Status 404. */
export class NotFoundError extends IpapiError {
  override readonly name = 'NotFoundError';
  override readonly code = 'not_found';
}

/** Status 405. */
export class MethodNotAllowedError extends IpapiError {
  override readonly name = 'MethodNotAllowedError';
  override readonly code = 'method_not_allowed';
}

/** Status 400 or 500, or an error record whose reason is not a known one. */
export class ServerError extends IpapiError {
  override readonly name = 'ServerError';
  override readonly code = 'server_error';
}

/** Any other status that is no success. */
export class UnexpectedStatusError extends IpapiError {
  override readonly name = 'UnexpectedStatusError';
  override readonly code = 'unexpected_status';
}

/** No whole answer: DNS, connection, TLS, or cut off on the way. `reason` is the error code (`ECONNREFUSED`). */
export class NetworkError extends IpapiError {
  override readonly name = 'NetworkError';
  override readonly code = 'network_error';
}

/** The last attempt took longer than `timeoutMs`, its body included. */
export class TimeoutError extends IpapiError {
  override readonly name = 'TimeoutError';
  override readonly code = 'timeout';
}

/** The body is larger than `maxBodyBytes` once it is decompressed. */
export class BodyTooLargeError extends IpapiError {
  override readonly name = 'BodyTooLargeError';
  override readonly code = 'body_too_large';
}

/** A success whose body is not what was asked for. */
export class InvalidResponseError extends IpapiError {
  override readonly name = 'InvalidResponseError';
  override readonly code = 'invalid_response';
}

/** The rate limiter that was given rejected. */
export class LimiterError extends IpapiError {
  override readonly name = 'LimiterError';
  override readonly code = 'limiter_failed';
}
