import { LRUCache } from 'lru-cache';
import { canonicalAddress, isReservedAddress } from './address.ts';
import type { IPInfo } from './names.ts';

/**
 * Where records are kept between lookups. The key is the address in one spelling, an IPv4-mapped IPv6 address being
 * the IPv4 address. May answer at once or later; one that fails counts as empty.
 */
export interface InfoCache {
  get(key: string): IPInfo | undefined | null | PromiseLike<IPInfo | undefined | null>;
  set(key: string, info: IPInfo): unknown;
}

export interface CacheSize {
  /** Records; the least recently used goes first. */
  readonly max: number;
  /** Milliseconds for which a record is good. */
  readonly ttlMs: number;
}

export function lruCache({ max, ttlMs }: CacheSize): InfoCache {
  const records = new LRUCache<string, IPInfo>({ max, ttl: ttlMs });
  return {
    get: (key) => records.get(key),
    set: (key, info) => records.set(key, info),
  };
}

/** The record of an address, null when there is none. Reserved addresses have none. */
export async function recall(cache: InfoCache, address: string): Promise<IPInfo | null> {
  if (isReservedAddress(address)) return null;
  try {
    return (await cache.get(canonicalAddress(address))) ?? null;
  } catch {
    return null;
  }
}

/** Keeps the record of an address, unless it is a reserved one. A slow cache does not hold the answer up. */
export function remember(cache: InfoCache, address: string, info: IPInfo): void {
  if (isReservedAddress(address)) return;
  try {
    Promise.resolve(cache.set(canonicalAddress(address), info)).catch(() => {});
  } catch {
    // A cache that is full or away costs a request the next time, nothing more.
  }
}
