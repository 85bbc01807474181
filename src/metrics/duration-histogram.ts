/**
 * Upper bounds of the buckets, in seconds: from the time of a cached lookup to beyond the largest deadline that a
 * request may set by default.
 */
export const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300] as const;

/** A histogram of durations, kept as an array of counts. */
export class DurationHistogram {
  /** Number of observations in each bucket, not cumulative; the last bucket has no upper bound. */
  readonly #counts = new Float64Array(BOUNDS_SECONDS.length + 1);
  #sum = 0;
  #count = 0;

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    const index = BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    const bucket = index === -1 ? BOUNDS_SECONDS.length : index;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
    this.#count += 1;
  }

  /** Sum of all observations, in seconds. */
  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  /** Number of observations at or below each of `BOUNDS_SECONDS`. */
  get cumulative(): readonly number[] {
    let total = 0;
    return BOUNDS_SECONDS.map((_, index) => {
      total += this.#counts[index] ?? 0;
      return total;
    });
  }
}
