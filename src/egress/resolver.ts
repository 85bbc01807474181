import { lookup as systemLookup } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { CapstanError } from '../capture/errors.ts';

/** Every address of a name, in the order in which they are to be tried. Rejects as `dns.lookup` does. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface ResolverOptions {
  readonly lookup?: Lookup | undefined;
  /** How long an answer serves again, in milliseconds; 0 asks anew for each connection. */
  readonly cacheMs?: number | undefined;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

export interface Resolver {
  /** Rejects with `target_unreachable`, or the signal's reason. The list is never empty. */
  resolve(name: string, signal: AbortSignal): Promise<readonly string[]>;
}

/**
 * A page opens many connections to few names, and `dns.lookup` has two threads for the whole process: those few
 * seconds, and one question for all who ask at once, keep look-ups from being the bottleneck. They are no border: the
 * address that is dialled is always the one that was checked.
 */
const CACHE_MS = 5_000;
const CACHE_NAMES = 2_000;

export function createResolver({ lookup = lookupAll, cacheMs = CACHE_MS, timeoutMs }: ResolverOptions): Resolver {
  const answers = new LRUCache<string, Promise<readonly string[]>>({ max: CACHE_NAMES, ttl: Math.max(cacheMs, 1) });

  const ask = (name: string): Promise<readonly string[]> => {
    const known = cacheMs > 0 ? answers.get(name) : undefined;
    if (known) return known;
    const answer = lookup(name);
    if (cacheMs > 0) {
      answers.set(name, answer);
      answer.catch(() => {
        if (answers.peek(name) === answer) answers.delete(name);
      });
    }
    return answer;
  };

  return {
    async resolve(name, signal) {
      signal.throwIfAborted();
      const settled = new AbortController();
      const expiry = delay(timeoutMs, 'expired' as const, { signal: AbortSignal.any([signal, settled.signal]) });
      try {
        const addresses = await Promise.race([ask(name), expiry]);
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
      }
    },
  };
}

/** As the system resolves (so `/etc/hosts` holds), every address, in the system's order of preference. */
async function lookupAll(name: string): Promise<readonly string[]> {
  const answers = await systemLookup(name, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
}

function lookupFailure(name: string, error: unknown): CapstanError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reason = code === 'EAI_AGAIN' ? `the name server gave no answer for ${name}` : `no such name: ${name}`;
  return new CapstanError('target_unreachable', reason, { cause: error });
}
