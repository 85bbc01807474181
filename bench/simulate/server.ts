/** Works on one thing at a time, in the order of arrival, and takes the same time for each. */
export class Server {
  readonly #seconds: number;
  #freeAt = 0;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Returns when a thing that arrives now is done. Call it in the order of arrival. */
  done(at: number): number {
    this.#freeAt = Math.max(this.#freeAt, at) + this.#seconds;
    return this.#freeAt;
  }
}
