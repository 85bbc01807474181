/** The remaining rate of a key. */
interface RateState {
  /** Captures a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the whole rate is available again. */
  readonly resetSeconds: number;
  /** Seconds until the same request would be accepted; 0 when it was accepted now. */
  readonly retryAfterSeconds: number;
}

/** Counts what is limited for each name: captures that a key requests, logins from an address. In this process. */
export interface RateLimits {
  take(name: string, limit: number, captures: number): RateState;
  /** Returns what `take` would, and takes nothing. */
  look(name: string, limit: number, captures: number): RateState;
}

const MINUTE_MS = 60_000;

/** The part of a capture that a bucket may lack, because sums of times are rounded. */
const ROUNDING = 0.001;

/**
 * Keeps one bucket for each key, which holds the captures of one minute and fills evenly (GCRA). Fixed windows of one
 * minute, as in most libraries, would admit the captures of a busy key in one burst a minute, and the other keys would
 * wait for it. `now`: milliseconds.
 */
export function createRateLimits(now: () => number): RateLimits {
  /** Time at which the bucket of a key is full again. */
  const fullAt = new Map<string, number>();
  const stateOf = (name: string, limit: number, captures: number, isTaking: boolean): RateState => {
    const at = now();
    const interval = MINUTE_MS / limit;
    const toleranceMs = interval * ROUNDING;
    const before = Math.max(fullAt.get(name) ?? 0, at);
    const after = before + captures * interval;
    const missingMs = after - at - MINUTE_MS;
    const secondsOf = (ms: number) => Math.max(0, Math.ceil((ms - toleranceMs) / 1000));
    // A batch that does not fit is refused as a whole, and takes nothing.
    const fits = missingMs < toleranceMs;
    const full = fits && isTaking ? after : before;
    if (isTaking) {
      // The last one changed stays the last, so that full buckets are found in front.
      fullAt.delete(name);
      for (const [other, fullThen] of fullAt) {
        if (fullThen > at) break;
        fullAt.delete(other);
      }
      fullAt.set(name, full);
    }
    return {
      limit,
      remaining: Math.max(0, Math.floor((MINUTE_MS - (full - at) + toleranceMs) / interval)),
      resetSeconds: secondsOf(full - at),
      retryAfterSeconds: fits ? 0 : Math.max(1, secondsOf(missingMs)),
    };
  };
  return {
    take: (name, limit, captures) => stateOf(name, limit, captures, true),
    look: (name, limit, captures) => stateOf(name, limit, captures, false),
  };
}
