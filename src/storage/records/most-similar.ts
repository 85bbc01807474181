import type { SimilarCapture } from '../ports/result-store.ts';

/** Collects the `limit` most similar captures: nearest first, then newest. Holds no more than these. */
export class MostSimilar {
  readonly #limit: number;
  #found: readonly SimilarCapture[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get found(): readonly SimilarCapture[] {
    return this.#found;
  }

  /** Returns whether a capture at this distance can be among the most similar ones, if it is new enough. */
  takes(distance: number): boolean {
    const last = this.#found[this.#limit - 1];
    return last === undefined || distance <= last.distance;
  }

  /** Adds captures at one distance, each of them once. */
  add(ids: readonly number[], distance: number): void {
    const all = [...this.#found, ...ids.map((id) => ({ id, distance }))];
    this.#found = all.sort((a, b) => a.distance - b.distance || b.id - a.id).slice(0, this.#limit);
  }
}
