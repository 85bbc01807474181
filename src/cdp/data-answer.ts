const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Characters of base64 that encode whole bytes. */
const GROUP = 4;
/** Maximum number of characters of an escape in JSON text. */
const MAX_ESCAPE = 6;

/**
 * Bytes that the text of an answer's `data` stands for when its command asks for bytes: those that base64 encodes, or
 * the text's own characters, of which there are none above U+00FF.
 */
export type DataEncoding = 'base64' | 'latin1';

/** An answer whose text is decoded part by part, so that decoding never blocks the event loop for long. */
export class DataAnswer {
  readonly id: number;
  /** The beginning of the message. */
  readonly head: string;
  readonly #encoding: DataEncoding;
  readonly #decoded: Buffer[] = [];
  /** Characters that wait for the rest of their group or escape. */
  #rest = '';
  #ended = false;

  constructor(id: number, head: string, encoding: DataEncoding) {
    this.id = id;
    this.head = head;
    this.#encoding = encoding;
  }

  /**
   * Takes the next part of the message, starting with the text's first character. Anything after the text is dropped.
   */
  add(part: Buffer): void {
    if (this.#ended) return;
    const quote = this.#endIn(part);
    this.#ended = quote !== -1;
    const text = this.#rest + part.toString('latin1', 0, this.#ended ? quote : part.length);
    const whole = this.#ended ? text.length : this.#wholeIn(text);
    this.#rest = text.slice(whole);
    const complete = text.slice(0, whole);
    this.#decoded.push(Buffer.from(this.#encoding === 'base64' ? complete : unescaped(complete), this.#encoding));
  }

  end(): Buffer {
    return Buffer.concat(this.#decoded);
  }

  /** Returns the position of the quotation mark that ends the text; -1 when it goes on. */
  #endIn(part: Buffer): number {
    for (let quote = part.indexOf(QUOTE); quote !== -1; quote = part.indexOf(QUOTE, quote + 1)) {
      let escapes = 0;
      while (quote - escapes > 0 && part[quote - escapes - 1] === BACKSLASH) escapes += 1;
      // The escape may have begun in the part before.
      if (escapes === quote) escapes += trailingBackslashes(this.#rest);
      if (escapes % 2 === 0) return quote;
    }
    return -1;
  }

  /** Returns how much of the text is complete: whole groups of base64, or whole escapes. */
  #wholeIn(text: string): number {
    if (this.#encoding === 'base64') return text.length - (text.length % GROUP);
    const start = text.lastIndexOf('\\');
    if (start === -1 || text.length - start >= MAX_ESCAPE) return text.length;
    // An even number of backslashes are escaped backslashes; otherwise the last one begins an escape.
    const run = trailingBackslashes(text.slice(0, start + 1));
    if (run % 2 === 0) return text.length;
    const isShort = text.length - start >= 2 && text[start + 1] !== 'u';
    return isShort ? text.length : start;
  }
}

function trailingBackslashes(text: string): number {
  let count = 0;
  while (count < text.length && text.charCodeAt(text.length - 1 - count) === BACKSLASH) count += 1;
  return count;
}

function unescaped(text: string): string {
  const value: unknown = JSON.parse(`"${text}"`);
  return String(value);
}
