import type { Noted } from '../../../capture/evidence.ts';

/** A list with a maximum length that counts the items omitted. */
export class Tally<T> {
  readonly #most: number;
  readonly #items: T[] = [];
  #omitted = 0;

  constructor(most: number) {
    this.#most = most;
  }

  note(item: T): void {
    if (this.#items.length < this.#most) this.#items.push(item);
    else this.#omitted += 1;
  }

  get noted(): Noted<T> {
    return { items: [...this.#items], omitted: this.#omitted };
  }
}
