// Not by range-parser: it finds `bytes=-1000` unsatisfiable for a file of 100 bytes, where RFC 9110 sends all of it.

/** Bytes from `start` to `end`, both inclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the range that a Range header asks for of a file of `size` bytes. Returns null when the whole file is to be
 * sent: without a range, with an invalid one, or with several, which a server may ignore (RFC 9110, 14.2).
 */
export function readByteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const suffix = Number(last);
    return suffix === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(size - suffix, 0), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
