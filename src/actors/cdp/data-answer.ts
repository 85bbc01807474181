const QUOTE = 0x22;
/** Characters of base64 that make whole bytes. */
const GROUP = 4;

/** An answer whose text in base64 is decoded part by part, so that nobody holds the event loop for all of it. */
export class DataAnswer {
  readonly id: number;
  /** How the message begins. */
  readonly head: string;
  readonly #decoded: Buffer[] = [];
  /** Characters that wait for the rest of their group. */
  #rest = '';
  #ended = false;

  constructor(id: number, head: string) {
    this.id = id;
    this.head = head;
  }

  /** The next part of the message, from the text's first character on. What stands behind the text is dropped. */
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
