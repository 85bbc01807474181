import type { IpFacts } from '../../capture/result/result.ts';
import type { IpFactsConfig } from '../../config/slices.ts';

/** Looks up facts about the IP addresses of targets. */
export interface IpFactsSource {
  /**
   * Returns what is known about an address; null when it is private, or when the lookup failed or took longer than
   * `withinMs`. Never rejects, so that a failed lookup does not fail the capture.
   */
  lookUp(address: string | null, withinMs: number, signal: AbortSignal): Promise<IpFacts | null>;
  /** Counts since the start; null when lookups are disabled. */
  readonly counts: { readonly known: number; readonly missing: number } | null;
}

/** Time limit for a lookup, in milliseconds. The capture holds its slot meanwhile. */
const MAX_LOOKUP_MS = 5_000;
/** Facts about an address are kept for a day. */
const CACHE = { max: 10_000, ttlMs: 24 * 60 * 60 * 1000 };

export async function createIpFacts(
  config: IpFactsConfig,
  onMissing: (error: unknown) => void,
): Promise<IpFactsSource> {
  if (!config.ipinfo) return { lookUp: async () => null, counts: null };
  const { IpapiClient, isReservedAddress, TokenBucket } = await import('../../ipinfo/mod.ts');
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
