import type { IpFacts } from '../capture/result.ts';
import type { Config } from '../config.ts';
import { IpapiClient, isReservedAddress, TokenBucket } from '../ipinfo/mod.ts';

export type IpFactsConfig = Pick<Config, 'ipinfo' | 'ipinfoUrl' | 'ipinfoKey' | 'ipinfoRate'>;

/** What captures learn about the addresses that their targets answered from. */
export interface IpFactsSource {
  /**
   * What is known about an address, null when it is private, or could not be had within `withinMs`. Never rejects: a
   * capture does not fail for the want of it.
   */
  lookUp(address: string | null, withinMs: number, signal: AbortSignal): Promise<IpFacts | null>;
  /** Since the start; null when nothing is looked up. */
  readonly counts: { readonly known: number; readonly missing: number } | null;
}

/** A capture keeps its slot while it waits: what takes longer than this is missing in the record. */
const MAX_LOOKUP_MS = 5_000;
/** Where an address is says the same for a day. */
const CACHE = { max: 10_000, ttlMs: 24 * 60 * 60 * 1000 };

export function createIpFacts(config: IpFactsConfig, onMissing: (error: unknown) => void): IpFactsSource {
  if (!config.ipinfo) return { lookUp: async () => null, counts: null };
  const client = new IpapiClient({
    baseUrl: config.ipinfoUrl,
    apiKey: config.ipinfoKey ?? undefined,
    rateLimiter: new TokenBucket({ ratePerSecond: config.ipinfoRate }),
    cache: CACHE,
  });
  const counts = { known: 0, missing: 0 };
  return {
    counts,
    async lookUp(address, withinMs, signal) {
      if (address === null || isReservedAddress(address)) return null;
      const patience = AbortSignal.timeout(Math.max(0, Math.min(withinMs, MAX_LOOKUP_MS)));
      try {
        const info = await client.getIPInfo(address, 'json', { signal: AbortSignal.any([signal, patience]) });
        counts.known += 1;
        return { ...info };
      } catch (error) {
        counts.missing += 1;
        onMissing(error);
        return null;
      }
    },
  };
}
