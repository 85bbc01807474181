import type { Noted } from '../../capture/result/evidence.ts';

/** A list with a maximum length that counts the items omitted. */
export class Tally<T> {
  readonly #max: number;
  readonly #items: T[] = [];
  #omitted = 0;

  constructor(max: number) {
    this.#max = max;
  }

  note(item: T): void {
    if (this.#items.length < this.#max) this.#items.push(item);
    else this.#omitted += 1;
  }

  get noted(): Noted<T> {
    return { items: [...this.#items], omitted: this.#omitted };
  }
}
