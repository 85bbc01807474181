import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Maximum size of a list that was sent compressed, in bytes. A sitemap has at most 50 MB. */
const MAX_INFLATED_BYTES = 512 * 1024 * 1024;
/** Maximum inflated bytes for each compressed byte, beyond a size that is always accepted. */
const MAX_INFLATION = 100;
const FREE_INFLATED_BYTES = 4 * 1024 * 1024;

/**
 * Generates the text of a list: inflated when it is gzip, decoded from UTF-8 or, with its byte order mark, UTF-16.
 * Throws a `RangeError` when it inflates too far, and the error of zlib when it is damaged.
 */
export async function* decodedText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of inflated(bytes)) {
    decoder ??= new TextDecoder(encodingOf(chunk));
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder?.decode() ?? '';
  if (rest !== '') yield rest;
}

/** Returns the encoding of a text that begins with these bytes, by its byte order mark. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

async function* inflated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const { start, all } = await startOf(bytes);
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

/** Returns the first two bytes, and all bytes. */
async function startOf(bytes: AsyncIterable<Uint8Array>) {
  const iterator = bytes[Symbol.asyncIterator]();
  let start: Uint8Array = new Uint8Array();
  let step = await iterator.next();
  while (step.done !== true && start.byteLength + step.value.byteLength < 2) {
    start = Buffer.concat([start, step.value]);
    step = await iterator.next();
  }
  if (step.done !== true) start = Buffer.concat([start, step.value]);
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
