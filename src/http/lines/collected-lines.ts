/** Collects the lines of an answer that is to be kept for an `Idempotency-Key`, unless it becomes too large. */
export class CollectedLines {
  readonly #max: number;
  readonly #lines: string[] = [];
  #characters = 0;

  /** `max`: maximum number of characters. */
  constructor(max: number) {
    this.#max = max;
  }

  add(line: string): void {
    this.#characters += line.length;
    if (this.#characters <= this.#max) this.#lines.push(line);
    else this.#lines.length = 0;
  }

  /** All lines; undefined when they are too large. */
  get text(): string | undefined {
    return this.#characters <= this.#max ? this.#lines.join('') : undefined;
  }
}
