import { NODATA, NOTFOUND } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { codeOf } from '../capture/basics/error-code.ts';
import { CapstanError } from '../capture/errors.ts';
import { createDnsLookup, type Lookup } from './dns-lookup.ts';

/** Starts a lookup when a slot is free. Starts none after its capture has ended. */
export type LookupQueue = <T>(lookUp: () => Promise<T>) => Promise<T>;

interface ResolverOptions {
  readonly lookup?: Lookup | undefined;
  /** Time for which an answer is reused, in milliseconds; with 0, only simultaneous lookups share an answer. */
  readonly cacheMs?: number | undefined;
  /** Time limit for a lookup once it has started, in milliseconds. */
  readonly timeoutMs: number;
}

export interface Resolver {
  /**
   * Resolves with at least one address. Rejects with `target_unreachable`, or the signal's reason. A name that is not
   * being looked up yet waits its turn in `queue`.
   */
  resolve(name: string, signal: AbortSignal, queue?: LookupQueue): Promise<readonly string[]>;
}

const CACHE_MS = 5_000;
const MAX_CACHED_NAMES = 2_000;

/** A lookup under way, aborted when its last waiter has left. */
interface SharedLookup {
  readonly answer: Promise<readonly string[]>;
  readonly abandoned: AbortController;
  waiting: number;
}

/**
 * Creates a resolver that shares one lookup among a page's many connections to the same name. The egress policy does
 * not depend on the cache: the address that is dialled is always the one that was checked.
 */
export function createResolver({
  lookup = createDnsLookup(),
  cacheMs = CACHE_MS,
  timeoutMs,
}: ResolverOptions): Resolver {
  const known = new LRUCache<string, readonly string[]>({ max: MAX_CACHED_NAMES, ttl: Math.max(cacheMs, 1) });
  const underWay = new Map<string, SharedLookup>();

  const start = (name: string): SharedLookup => {
    const abandoned = new AbortController();
    const answer = lookup(name, abandoned.signal);
    const shared: SharedLookup = { answer, abandoned, waiting: 0 };
    underWay.set(name, shared);
    const forget = () => {
      if (underWay.get(name) === shared) underWay.delete(name);
    };
    answer.then((addresses) => {
      if (cacheMs > 0) known.set(name, addresses);
    }, forget);
    answer.then(forget, () => {});
    return shared;
  };

  /** Waits for the lookup of a name, and starts one unless it is already under way. */
  const join = async (name: string, signal: AbortSignal): Promise<readonly string[]> => {
    signal.throwIfAborted();
    const shared = underWay.get(name) ?? start(name);
    shared.waiting += 1;
    const settled = new AbortController();
    const expiry = delay(timeoutMs, 'expired' as const, { signal: AbortSignal.any([signal, settled.signal]) });
    try {
      const addresses = await Promise.race([shared.answer, expiry]);
      if (addresses === 'expired') {
        throw new CapstanError('target_unreachable', `no address of ${name} was found within ${timeoutMs / 1000} s`);
      }
      if (addresses.length === 0) throw new CapstanError('target_unreachable', `no such name: ${name}`);
      return addresses;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof CapstanError ? error : lookupFailure(name, error);
    } finally {
      settled.abort();
      expiry.catch(() => {});
      shared.waiting -= 1;
      if (shared.waiting === 0 && underWay.get(name) === shared) {
        underWay.delete(name);
        shared.abandoned.abort();
      }
    }
  };

  return {
    async resolve(name, signal, queue = (lookUp) => lookUp()) {
      signal.throwIfAborted();
      const addresses = known.get(name);
      if (addresses !== undefined && addresses.length > 0) return addresses;
      return underWay.has(name) ? join(name, signal) : queue(() => join(name, signal));
    },
  };
}

function lookupFailure(name: string, error: unknown): CapstanError {
  const code = codeOf(error);
  const reason =
    code === NOTFOUND || code === NODATA || code === 'EBADNAME'
      ? `no such name: ${name}`
      : `the name server gave no answer for ${name}${code !== undefined ? ` (${code})` : ''}`;
  return new CapstanError('target_unreachable', reason, { cause: error });
}
