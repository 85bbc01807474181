/** A capture that looks like another one. */
export interface SimilarCapture {
  readonly id: number;
  /** Bits of the hashes that differ. */
  readonly distance: number;
}

/** Of the captures that it is told of the `limit` that are most alike: nearest first, then newest. It holds no others. */
export class MostSimilar {
  readonly #limit: number;
  #found: readonly SimilarCapture[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get found(): readonly SimilarCapture[] {
    return this.#found;
  }

  /** Whether a capture at this distance may be among them, if it is new enough. */
  takes(distance: number): boolean {
    const last = this.#found[this.#limit - 1];
    return last === undefined || distance <= last.distance;
  }

  /** Captures at one distance. Each is to be told once. */
  add(ids: readonly number[], distance: number): void {
    const all = [...this.#found, ...ids.map((id) => ({ id, distance }))];
    this.#found = all.sort((a, b) => a.distance - b.distance || b.id - a.id).slice(0, this.#limit);
  }
}
