const WINDOW_MS = 60_000;
/** Maximum number of durations kept, which bounds the memory of a busy service. */
const MAX_DURATIONS = 20_000;

/** The newest durations of the last minute. */
export class LastMinute {
  readonly #clock: () => number;
  #entries: { readonly at: number; readonly ms: number }[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(ms: number): void {
    if (this.#entries.length >= 2 * MAX_DURATIONS) this.#prune();
    this.#entries.push({ at: this.#clock(), ms });
  }

  /** Returns the 50th, 95th and 99th percentile; null without a duration. */
  percentiles(): { readonly p50: number; readonly p95: number; readonly p99: number } | null {
    this.#prune();
    const sorted = Float64Array.from(this.#entries, ({ ms }) => ms).sort();
    if (sorted.length === 0) return null;
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  }

  #prune(): void {
    const from = this.#clock() - WINDOW_MS;
    this.#entries = this.#entries.slice(-MAX_DURATIONS).filter(({ at }) => at >= from);
  }
}
