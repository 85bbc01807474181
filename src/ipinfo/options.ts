import { type CacheSize, type InfoCache, lruCache } from './cache.ts';
import { InvalidArgumentError } from './errors.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { type Redact, redactor } from './redact.ts';
import { assertWhole } from './validate.ts';

/** One attempt, over: what `onAttempt` is told. Holds no key. */
export interface AttemptReport {
  /** From 0 to `retries`. */
  readonly attempt: number;
  /** Without its query. */
  readonly url: string;
  /** ISO 8601, UTC, milliseconds: when it was sent. */
  readonly startedAt: string;
  /** How long it had waited for its token. */
  readonly waitedMs: number;
  readonly durationMs: number;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Why there was no whole answer (`ECONNRESET`, `ETIMEDOUT`), null when there was. */
  readonly failure: string | null;
  /** The pause before the next attempt; null when this was the last one. */
  readonly retryInMs: number | null;
}

export interface IpapiOptions {
  /** Default `https://ipapi.co/`. A path prefix is kept; no credentials, no query. */
  readonly baseUrl?: string | URL | undefined;
  /** Without one the upstream answers 1,000 requests a day. */
  readonly apiKey?: string | undefined;
  /**
   * How the key is sent: `header` (the default) is `Authorization: Bearer`, `query` is `?key=`. The upstream's own
   * clients use only the query; a header stays out of everybody's logs.
   */
  readonly apiKeyMode?: 'header' | 'query' | undefined;
  /** The function that JSONP answers call: letters, digits, `_`, `$` and `.`. */
  readonly callback?: string | undefined;
  /** The upstream limits by it too: keep it distinctive. */
  readonly userAgent?: string | undefined;
  /** Attempts after the first, on network errors and 5xx only. Default 2. */
  readonly retries?: number | undefined;
  /** The pause before each of them, in milliseconds. Default 500. */
  readonly retryDelayMs?: number | undefined;
  /** For each attempt, its body included; waiting for a token does not count. Milliseconds, default 10000. */
  readonly timeoutMs?: number | undefined;
  /** What each send waits for. None: no throttling. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Where records are kept: a size for an LRU cache, or a cache of one's own. None: nothing is kept. */
  readonly cache?: CacheSize | InfoCache | undefined;
  /** Most bytes of a body once it is decompressed. Default 1 MiB; a record has under 1 KiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Told of each attempt when it is over. What it throws is ignored. */
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
}

/** The options, checked, every default filled in. */
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

/** @throws InvalidArgumentError that names the first bad option (never the key). */
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
  // The message does not repeat the address: a key may stand in it.
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
