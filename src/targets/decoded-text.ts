import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Maximum size of a list that was sent compressed, in bytes. A sitemap has at most 50 MB. */
const MAX_INFLATED_BYTES = 512 * 1024 * 1024;
/** Maximum inflated bytes for each compressed byte, beyond a size that is always accepted. */
const MAX_INFLATION = 100;
const FREE_INFLATED_BYTES = 4 * 1024 * 1024;
const MAX_DECLARATION_BYTES = 256;
const DECLARED = /^<\?xml\s(?:[^>]*?\s)?encoding\s*=\s*["']([\w.:-]+)["']/;

/**
 * Generates the text of a list: inflated when it is gzip, decoded from UTF-8, UTF-16 with its byte order mark, or what
 * an XML declaration names. Throws a `RangeError` when it inflates too far or its encoding is unknown, and the error of
 * zlib when it is damaged.
 */
export async function* decodedText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const { start, all } = await startOf(inflated(bytes), showsEncoding);
  const decoder = new TextDecoder(encodingOf(start));
  for await (const chunk of all) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** Returns the encoding of a text that begins with these bytes, by its byte order mark or XML declaration. */
function encodingOf(start: Uint8Array): string {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const [, declared = 'utf-8'] = DECLARED.exec(asciiOf(start)) ?? [];
  // Without a byte order mark, a declaration that can be read is not in UTF-16.
  return /^utf-?16/i.test(declared) ? 'utf-8' : declared;
}

/** Whether these bytes have the byte order mark and XML declaration of a text, if it has any. */
function showsEncoding(start: Uint8Array): boolean {
  if (start.byteLength < 2) return false;
  const text = asciiOf(start);
  return !'<?xml'.startsWith(text.slice(0, 5)) || text.includes('?>') || start.byteLength >= MAX_DECLARATION_BYTES;
}

function asciiOf(start: Uint8Array): string {
  return Buffer.from(start.subarray(0, MAX_DECLARATION_BYTES)).toString('latin1');
}

async function* inflated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const { start, all } = await startOf(bytes, ({ byteLength }) => byteLength >= 2);
  if (start[0] !== 0x1f || start[1] !== 0x8b) {
    yield* all;
    return;
  }
  let read = 0;
  let written = 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of all) {
      read += chunk.byteLength;
      yield chunk;
    }
  }
  const source = Readable.from(counted(), { objectMode: false });
  const gunzip = createGunzip();
  source.once('error', (error) => gunzip.destroy(error));
  try {
    for await (const chunk of source.pipe(gunzip)) {
      written += chunk.byteLength;
      if (written > MAX_INFLATED_BYTES || written > FREE_INFLATED_BYTES + MAX_INFLATION * read) {
        throw new RangeError(`inflates to more than ${MAX_INFLATION} times its size, or to more than 512 MiB`);
      }
      yield chunk;
    }
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** Returns enough of the first bytes, or all that there are, and all bytes. */
async function startOf(bytes: AsyncIterable<Uint8Array>, isEnough: (start: Uint8Array) => boolean) {
  const iterator = bytes[Symbol.asyncIterator]();
  let start: Uint8Array = new Uint8Array();
  let step = await iterator.next();
  for (; step.done !== true; step = await iterator.next()) {
    start = Buffer.concat([start, step.value]);
    if (isEnough(start)) break;
  }
  async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      if (start.byteLength > 0) yield start;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { start, all: all() };
}
