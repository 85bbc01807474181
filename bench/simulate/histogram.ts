/** Number of buckets for each doubling: a quantile is exact to 1 %. */
const PER_DOUBLING = 72;
/** Values below this count as zero. */
const MIN = 1e-6;

/** Counts of values by size, in little memory whatever their number. */
export class Histogram {
  readonly #buckets = new Map<number, number>();
  #count = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get max(): number {
    return this.#max;
  }

  add(value: number): void {
    const bucket = value < MIN ? Number.NEGATIVE_INFINITY : Math.ceil(Math.log2(value) * PER_DOUBLING);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    this.#count += 1;
    this.#max = Math.max(this.#max, value);
  }

  /** Returns the quantile for `share` (0 to 1) by the nearest rank; NaN without values. */
  quantile(share: number): number {
    if (this.#count === 0) return Number.NaN;
    let left = Math.max(1, Math.ceil(share * this.#count));
    for (const [bucket, count] of [...this.#buckets].toSorted(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.min(this.#max, 2 ** (bucket / PER_DOUBLING));
    }
    return this.#max;
  }
}
