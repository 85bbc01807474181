import { LRUCache } from 'lru-cache';
import { canonicalAddress, isReservedAddress } from './address.ts';
import type { IPInfo } from './names.ts';

/**
 * A cache of records. The key is the canonical address; an IPv4-mapped IPv6 address has the key of the IPv4 address.
 * Methods may be synchronous or asynchronous; a cache that fails counts as empty.
 */
export interface InfoCache {
  get(key: string): IPInfo | undefined | null | PromiseLike<IPInfo | undefined | null>;
  set(key: string, info: IPInfo): unknown;
}

export interface CacheSize {
  /** Maximum number of records; the least recently used is evicted first. */
  readonly max: number;
  /** Time to live of a record, in milliseconds. */
  readonly ttlMs: number;
}

export function lruCache({ max, ttlMs }: CacheSize): InfoCache {
  const records = new LRUCache<string, IPInfo>({ max, ttl: ttlMs });
  return {
    get: (key) => records.get(key),
    set: (key, info) => records.set(key, info),
  };
}

/** Returns the cached record of an address, or null. Reserved addresses are never cached. */
export async function recall(cache: InfoCache, address: string): Promise<IPInfo | null> {
  if (isReservedAddress(address)) return null;
  try {
    return (await cache.get(canonicalAddress(address))) ?? null;
  } catch {
    return null;
  }
}

/** Stores the record of an address, unless the address is reserved. The answer does not wait for a slow cache. */
export function remember(cache: InfoCache, address: string, info: IPInfo): void {
  if (isReservedAddress(address)) return;
  try {
    Promise.resolve(cache.set(canonicalAddress(address), info)).catch(() => {});
  } catch {
    // When the cache is full or unreachable, the next lookup sends a request.
  }
}
