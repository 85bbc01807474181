import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib';

/** Decoders by content coding; `createUnzip` accepts both gzip and deflate. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd';

export interface Decompression {
  /** Resolves with the whole body; rejects when it is corrupt. Null when the body is not compressed. */
  readonly body: Promise<Uint8Array> | null;
  stop(): void;
}

/**
 * Decompresses at most `maxBytes` of a body while got reads the compressed body, and calls `onTooLarge` when there is
 * more. A limit on the compressed bytes is not enough: one read from a socket (64 KiB) can inflate to more than 64 MiB.
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
