const QUOTE = 0x22;
/** Characters of base64 that encode whole bytes. */
const GROUP = 4;

/** An answer whose base64 text is decoded part by part, so that decoding never blocks the event loop for long. */
export class DataAnswer {
  readonly id: number;
  /** The beginning of the message. */
  readonly head: string;
  readonly #decoded: Buffer[] = [];
  /** Characters that wait for the rest of their group. */
  #rest = '';
  #ended = false;

  constructor(id: number, head: string) {
    this.id = id;
    this.head = head;
  }

  /**
   * Takes the next part of the message, starting with the text's first character. Anything after the text is dropped.
   */
  add(part: Buffer): void {
    if (this.#ended) return;
    const quote = part.indexOf(QUOTE);
    this.#ended = quote !== -1;
    const text = this.#rest + part.toString('latin1', 0, this.#ended ? quote : part.length);
    const whole = this.#ended ? text.length : text.length - (text.length % GROUP);
    this.#rest = text.slice(whole);
    this.#decoded.push(Buffer.from(text.slice(0, whole), 'base64'));
  }

  end(): Buffer {
    return Buffer.concat(this.#decoded);
  }
}
