import { type CacheSize, type InfoCache, lruCache } from './cache.ts';
import { InvalidArgumentError } from './errors.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { type Redact, redactor } from './redact.ts';
import { assertWhole } from './validate.ts';

/** A finished attempt, as passed to `onAttempt`. Contains no key. */
export interface AttemptReport {
  /** From 0 to `retries`. */
  readonly attempt: number;
  /** URL without its query. */
  readonly url: string;
  /** Time of sending: ISO 8601, UTC, with milliseconds. */
  readonly startedAt: string;
  /** Milliseconds spent waiting for a token. */
  readonly waitedMs: number;
  readonly durationMs: number;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Error code when there was no complete answer (`ECONNRESET`, `ETIMEDOUT`), else null. */
  readonly failure: string | null;
  /** Pause before the next attempt, in milliseconds; null after the last one. */
  readonly retryInMs: number | null;
}

export interface IpapiOptions {
  /**
   * Base address of the upstream. A path prefix is kept; credentials and a query are refused.
   * @default https://ipapi.co/
   */
  readonly baseUrl?: string | URL | undefined;
  /** API key. Without one the upstream answers 1,000 requests a day. */
  readonly apiKey?: string | undefined;
  /**
   * How the key is sent: `header` sends `Authorization: Bearer`, `query` sends `?key=`. The upstream's own clients use
   * only the query; a header stays out of access logs.
   * @default 'header'
   */
  readonly apiKeyMode?: 'header' | 'query' | undefined;
  /** Name of the JSONP callback: letters, digits, `_`, `$` and `.`. */
  readonly callback?: string | undefined;
  /** User-Agent. The upstream applies limits per User-Agent too: keep it distinctive. */
  readonly userAgent?: string | undefined;
  /** Maximum number of retries, on network errors and 5xx only. @default 2 */
  readonly retries?: number | undefined;
  /** Pause before each retry, in milliseconds. @default 500 */
  readonly retryDelayMs?: number | undefined;
  /** Time limit for each attempt, including its body but not the wait for a token, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
  /** Rate limiter that every send waits for. @default none */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Cache of records: the size of a built-in LRU cache, or a cache of your own. @default none */
  readonly cache?: CacheSize | InfoCache | undefined;
  /** Maximum size of a decompressed body, in bytes; a record has less than 1 KiB. @default 1 MiB */
  readonly maxBodyBytes?: number | undefined;
  /** Called after each attempt. Exceptions are ignored. */
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
}

/** Validated options with all defaults filled in. */
export interface Settings {
  readonly base: URL;
  readonly apiKey: string | null;
  readonly apiKeyMode: 'header' | 'query';
  readonly callback: string | null;
  readonly userAgent: string;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
  readonly rateLimiter: RateLimiter | null;
  readonly cache: InfoCache | null;
  readonly maxBodyBytes: number;
  readonly onAttempt: (report: AttemptReport) => void;
  readonly redact: Redact;
}

/** @throws InvalidArgumentError that names the first invalid option (never the key). */
export function toSettings(options: IpapiOptions): Settings {
  const {
    baseUrl = 'https://ipapi.co/',
    apiKey = '',
    apiKeyMode = 'header',
    callback,
    userAgent = 'capstan-ipinfo/0.1 (node)',
    retries = 2,
    retryDelayMs = 500,
    timeoutMs = 10_000,
    rateLimiter,
    cache,
    maxBodyBytes = 1024 * 1024,
    onAttempt = () => {},
  } = options;

  assertWhole('retries', retries, 0);
  assertWhole('retryDelayMs', retryDelayMs, 0);
  assertWhole('timeoutMs', timeoutMs, 1);
  assertWhole('maxBodyBytes', maxBodyBytes, 1, Number.MAX_SAFE_INTEGER);
  if (apiKeyMode !== 'header' && apiKeyMode !== 'query') {
    throw new InvalidArgumentError('apiKeyMode must be "header" or "query".');
  }
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new InvalidArgumentError('apiKey must be visible ASCII characters without blanks.');
  }
  if (callback !== undefined && !/^[\w$.]+$/.test(callback)) {
    throw new InvalidArgumentError('callback must consist of letters, digits, "_", "$" and ".".');
  }
  if (!/^[\x20-\x7e]+$/.test(userAgent)) {
    throw new InvalidArgumentError('userAgent must be visible ASCII characters.');
  }

  return {
    base: toBase(baseUrl),
    apiKey: apiKey === '' ? null : apiKey,
    apiKeyMode,
    callback: callback ?? null,
    userAgent,
    retries,
    retryDelayMs,
    timeoutMs,
    rateLimiter: rateLimiter ?? null,
    cache: cache === undefined ? null : toCache(cache),
    maxBodyBytes,
    onAttempt,
    redact: redactor(apiKey === '' ? null : apiKey),
  };
}

function toBase(baseUrl: string | URL): URL {
  // The message does not repeat the address, which may contain a key.
  const base = URL.parse(String(baseUrl));
  if (base === null || (base.protocol !== 'http:' && base.protocol !== 'https:')) {
    throw new InvalidArgumentError('baseUrl must be an absolute http or https URL.');
  }
  if (base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') {
    throw new InvalidArgumentError('baseUrl must have no credentials, no query and no fragment.');
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return base;
}

function toCache(cache: CacheSize | InfoCache): InfoCache {
  if ('get' in cache) return cache;
  assertWhole('cache.max', cache.max, 1);
  assertWhole('cache.ttlMs', cache.ttlMs, 1);
  return lruCache(cache);
}
