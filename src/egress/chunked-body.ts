/** Chromium's own limit for a line between chunks. */
const MAX_LINE_BYTES = 16 * 1024;
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
/** No chunk, so that the body breaks off in Node's parser after the bytes before it. */
const BREAK_OFF = Buffer.from('x\r\n');
const SIZE = /^([\da-f]+)( *)(?:;|$)/i;

/**
 * Reads a body in chunks as Chromium reads it: lines may end with LF alone, spaces may follow a size, and extensions
 * and trailers are left out.
 */
export class ChunkedBody {
  /** Whether the body is as RFC 9112 requires, and nothing follows it. */
  isRegular = true;
  readonly #maxTrailerBytes: number;
  #expected: 'size' | 'end of chunk' | 'trailer' | 'nothing' = 'size';
  #line = '';
  /** Bytes that are left of the chunk. */
  #left = 0;
  #trailerBytes = 0;

  /** `maxTrailerBytes` applies to all trailers together. */
  constructor(maxTrailerBytes: number) {
    this.#maxTrailerBytes = maxTrailerBytes;
  }

  /**
   * Returns the part of the body that the bytes have, as the pieces of one regular chunk, followed by the last chunk
   * when the body has ended. An invalid chunk follows when Chromium refuses the next bytes or the trailers are too long.
   */
  read(bytes: Buffer): readonly Buffer[] {
    let end = NOTHING;
    const data: Buffer[] = [];
    let at = 0;
    while (at < bytes.length && !this.#hasEnded) {
      if (this.#left > 0) {
        const part = bytes.subarray(at, at + this.#left);
        data.push(part);
        this.#left -= part.length;
        at += part.length;
        continue;
      }
      const lf = bytes.indexOf(LF, at);
      const afterLine = lf < 0 ? bytes.length : lf + 1;
      this.#line += bytes.toString('latin1', at, afterLine);
      at = afterLine;
      const isWhole = lf >= 0;
      if (this.#line.length > MAX_LINE_BYTES || (isWhole && !this.#accepts(this.#line))) {
        this.#expected = 'nothing';
        this.isRegular = false;
        end = BREAK_OFF;
      } else if (isWhole) {
        this.#line = '';
        if (this.#hasEnded) end = LAST_CHUNK;
      }
    }
    if (at < bytes.length) this.isRegular = false;
    return framed(data, end);
  }

  get #hasEnded(): boolean {
    return this.#expected === 'nothing';
  }

  #accepts(line: string): boolean {
    const hasCr = line.endsWith('\r\n');
    this.isRegular &&= hasCr;
    const text = line.slice(0, hasCr ? -2 : -1);
    if (this.#expected === 'size') return this.#acceptsSize(text);
    if (this.#expected === 'trailer' && text !== '') {
      this.#trailerBytes += line.length;
      return this.#trailerBytes <= this.#maxTrailerBytes;
    }
    this.#expected = this.#expected === 'trailer' ? 'nothing' : 'size';
    return text === '';
  }

  #acceptsSize(text: string): boolean {
    const [, digits = '', spaces = ''] = SIZE.exec(text) ?? [];
    const size = Number.parseInt(digits, 16);
    this.isRegular &&= spaces === '';
    this.#left = size;
    this.#expected = size === 0 ? 'trailer' : 'end of chunk';
    return Number.isSafeInteger(size);
  }
}

function framed(data: readonly Buffer[], end: Buffer): Buffer[] {
  const size = data.reduce((sum, { length }) => sum + length, 0);
  const pieces = size > 0 ? [Buffer.from(`${size.toString(16)}\r\n`), ...data, Buffer.from('\r\n')] : [];
  return end === NOTHING ? pieces : [...pieces, end];
}
