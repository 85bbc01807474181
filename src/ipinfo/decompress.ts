import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib';

/** Codings of which bodies are decompressed; `createUnzip` takes gzip and deflate. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd';

export interface Decompression {
  /** Resolves with the body when all of it has been read; null when it is not compressed. Rejects when it is corrupt. */
  readonly body: Promise<Uint8Array> | null;
  stop(): void;
}

/**
 * Decompresses at most `maxBytes` of a body, beside the reader of the compressed body: one read from a socket (64 KiB)
 * can inflate to more than 64 MiB. Calls `onTooLarge` when there is more.
 */
export function decompressWithin(message: IncomingMessage, maxBytes: number, onTooLarge: () => void): Decompression {
  const codings = (message.headers['content-encoding'] ?? '').toLowerCase().split(',');
  const decoders = codings.toReversed().flatMap((coding) => DECODERS[coding.trim()]?.() ?? []);
  const [first] = decoders;
  const last = decoders.at(-1);
  if (first === undefined || last === undefined) return { body: null, stop: () => {} };

  const { promise: body, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const stop = (): void => {
    for (const decoder of decoders) decoder.destroy();
  };
  const parts: Buffer[] = [];
  let bytes = 0;
  decoders.reduce((source, decoder) => source.pipe(decoder));
  for (const decoder of decoders) decoder.on('error', reject);
  last.on('data', (part: Buffer) => {
    bytes += part.length;
    parts.push(part);
    if (bytes <= maxBytes) return;
    stop();
    reject(new Error('The body is too large.'));
    onTooLarge();
  });
  last.once('end', () => resolve(Buffer.concat(parts)));
  body.catch(() => {});

  const read = message.read.bind(message);
  message.read = (size?: number) => {
    const part: unknown = read(size);
    if (Buffer.isBuffer(part) && !first.destroyed) first.write(part);
    return part;
  };
  message.once('end', () => first.end());
  return { body, stop };
}
