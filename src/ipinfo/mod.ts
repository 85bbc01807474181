/* The IP information client, a client for ipapi.co. It stands alone and imports nothing else of Capstan. */

export { isAddress, isReservedAddress } from './address.ts';
export type { CacheSize, InfoCache } from './cache.ts';
export { type CallOptions, IpapiClient, type LookupManyOptions } from './client.ts';
export {
  BodyTooLargeError,
  InvalidArgumentError,
  InvalidIPError,
  InvalidKeyError,
  InvalidResponseError,
  IpapiError,
  type IpapiErrorCode,
  LimiterError,
  MethodNotAllowedError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ReservedIPError,
  ServerError,
  TimeoutError,
  UnexpectedStatusError,
} from './errors.ts';
export type { LookupResult } from './lookup-many.ts';
export {
  FIELD_NAMES,
  type Field,
  type FieldName,
  FORMATS,
  type Format,
  getPostal,
  type IPInfo,
  type Quota,
} from './names.ts';
export type { AttemptReport, IpapiOptions } from './options.ts';
export { type RateLimiter, TokenBucket, type TokenBucketOptions } from './rate-limiter.ts';
