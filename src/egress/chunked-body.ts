/** Chromium's own limit for a line between chunks. */
const MAX_LINE_BYTES = 16 * 1024;
const LF = 0x0a;
const SIZE = /^(?<digits>[\da-f]+)(?<spaces> *)(?:;|$)/i;

/**
 * Reads a body in chunks as Chromium reads it: lines may end with LF alone, spaces may follow a size, and extensions and
 * trailers are left out.
 */
export class ChunkedBody {
  /** Whether the body is as RFC 9112 requires, and nothing follows it. */
  isRegular = true;
  #expected: 'size' | 'end of chunk' | 'trailer' | 'nothing' = 'size';
  #line = '';
  /** Bytes that are left of the chunk. */
  #left = 0;

  /** Returns bytes of the body as regular chunks; null when Chromium refuses them. */
  read(bytes: Buffer): Buffer | null {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.#expected === 'nothing') {
        this.isRegular = false;
        break;
      }
      if (this.#left > 0) {
        const part = bytes.subarray(at, at + this.#left);
        pieces.push(part);
        this.#left -= part.length;
        at += part.length;
        continue;
      }
      const lf = bytes.indexOf(LF, at);
      const end = lf < 0 ? bytes.length : lf + 1;
      this.#line += bytes.toString('latin1', at, end);
      at = end;
      if (this.#line.length > MAX_LINE_BYTES) return null;
      if (lf < 0) break;
      const line = this.#readLine(this.#line);
      if (line === null) return null;
      pieces.push(Buffer.from(line, 'latin1'));
      this.#line = '';
    }
    return Buffer.concat(pieces);
  }

  #readLine(line: string): string | null {
    this.isRegular &&= line.endsWith('\r\n');
    const text = line.replace(/\r?\n$/, '');
    if (this.#expected === 'size') return this.#readSize(text);
    if (this.#expected === 'trailer' && text !== '') return '';
    if (text !== '') return null;
    this.#expected = this.#expected === 'trailer' ? 'nothing' : 'size';
    return '\r\n';
  }

  #readSize(text: string): string | null {
    const { digits = '', spaces = '' } = SIZE.exec(text)?.groups ?? {};
    const size = Number.parseInt(digits, 16);
    if (!Number.isSafeInteger(size)) return null;
    this.isRegular &&= spaces === '';
    this.#left = size;
    this.#expected = size === 0 ? 'trailer' : 'end of chunk';
    return `${size.toString(16)}\r\n`;
  }
}
