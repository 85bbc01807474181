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
  /** The reason given by the upstream, or the network's error code; `''` when there is neither. */
  readonly reason?: string;
  /** Number of attempts; 0 when nothing was sent. */
  readonly attempts?: number;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
  readonly cause?: Error | undefined;
}

/**
 * The error of every operation (an aborted operation rejects with its signal's reason instead). Neither its texts nor
 * those of its cause contain the key.
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

/** An invalid format, field or option; nothing was sent. */
export class InvalidArgumentError extends IpapiError {
  override readonly name = 'InvalidArgumentError';
  override readonly code = 'invalid_argument';
}

/** Not an IPv4 or IPv6 address, according to this client (`status` is null, nothing was sent) or to the upstream. */
export class InvalidIPError extends IpapiError {
  override readonly name = 'InvalidIPError';
  override readonly code = 'invalid_ip';
}

/** A private or otherwise reserved address, about which nothing is known. */
export class ReservedIPError extends IpapiError {
  override readonly name = 'ReservedIPError';
  override readonly code = 'reserved_ip';
}

/** The key is wrong; or, when no key was sent, the upstream blocks this network. */
export class InvalidKeyError extends IpapiError {
  override readonly name = 'InvalidKeyError';
  override readonly code = 'invalid_key';
}

/** The quota is used up. The client itself never retries after this error. */
export class RateLimitedError extends IpapiError {
  override readonly name = 'RateLimitedError';
  override readonly code = 'rate_limited';
  /** Milliseconds after which to retry; null when the upstream did not say. */
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

/** Status 400 or 500, or an error record with an unknown reason. */
export class ServerError extends IpapiError {
  override readonly name = 'ServerError';
  override readonly code = 'server_error';
}

/** Any other unsuccessful status. */
export class UnexpectedStatusError extends IpapiError {
  override readonly name = 'UnexpectedStatusError';
  override readonly code = 'unexpected_status';
}

/**
 * No complete answer: DNS, connection or TLS failed, or the answer broke off. `reason` is the error code
 * (`ECONNREFUSED`).
 */
export class NetworkError extends IpapiError {
  override readonly name = 'NetworkError';
  override readonly code = 'network_error';
}

/** The last attempt, including its body, took longer than `timeoutMs`. */
export class TimeoutError extends IpapiError {
  override readonly name = 'TimeoutError';
  override readonly code = 'timeout';
}

/** The decompressed body is larger than `maxBodyBytes`. */
export class BodyTooLargeError extends IpapiError {
  override readonly name = 'BodyTooLargeError';
  override readonly code = 'body_too_large';
}

/** A successful answer whose body is not in the requested format. */
export class InvalidResponseError extends IpapiError {
  override readonly name = 'InvalidResponseError';
  override readonly code = 'invalid_response';
}

/** The configured rate limiter rejected. */
export class LimiterError extends IpapiError {
  override readonly name = 'LimiterError';
  override readonly code = 'limiter_failed';
}
