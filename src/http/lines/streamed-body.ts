import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib';
import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';

/** Creates a decompressing stream; undefined for an uncompressed body. */
export type BodyDecoder = (() => Transform & Zlib) | undefined;

/** One JSON value on each line. */
export const LINES_TYPE = 'application/x-ndjson';
/** Names of this type, the usual one first. None is registered, and clients send all of them. */
export const LINES_TYPES: readonly string[] = [LINES_TYPE, 'application/ndjson', 'application/jsonl'];

/**
 * Types of a list of targets, whose form its beginning tells. No type that a page of another origin may send without
 * being asked: `text/plain` is none of them.
 */
export const LIST_TYPES: readonly string[] = [
  'application/octet-stream',
  'application/xml',
  'text/xml',
  'text/csv',
  'application/gzip',
];

/**
 * Returns whether a body of one of these types is read as it arrives. Such a body may take any time as long as bytes
 * keep arriving.
 */
export function isStreamedBody(
  request: IncomingMessage,
  types: readonly string[] = [...LINES_TYPES, ...LIST_TYPES],
): boolean {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  return types.includes(type.trim().toLowerCase());
}

/**
 * Returns the decoder of a body's Content-Encoding.
 * @throws `unsupported_media_type` when the encoding is not supported.
 */
export function bodyDecoder({ headers }: IncomingMessage): BodyDecoder {
  return decoderOf(headers['content-encoding'] ?? 'identity');
}

/** Maximum inflated bytes for each byte that was sent. Lists of URLs inflate to 10 to 20 times their size. */
const MAX_INFLATION = 100;
/** Inflated bytes that are accepted at any ratio. */
const FREE_INFLATED_BYTES = 4 * 1024 * 1024;

/**
 * Returns the bytes of a body, decompressed as they arrive. The stream errors with `payload_too_large` past the maximum
 * ratio. Destroying it stops the decompression and keeps the request open.
 */
export function decodedBody(request: IncomingMessage, createDecoder: BodyDecoder): Readable {
  if (createDecoder === undefined) return request;
  const decoder = createDecoder();
  const limited = limitInflation(decoder);
  request.once('close', () => {
    if (!request.complete) limited.destroy(new Error('aborted'));
  });
  decoder.once('error', (error) => limited.destroy(error));
  limited.once('close', () => {
    request.unpipe(decoder);
    decoder.destroy();
  });
  return request.pipe(decoder).pipe(limited);
}

/** Passes inflated bytes on, up to the maximum ratio. */
function limitInflation(decoder: Pick<Zlib, 'bytesWritten'>): Transform {
  let inflated = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      inflated += chunk.length;
      if (inflated <= FREE_INFLATED_BYTES + MAX_INFLATION * decoder.bytesWritten) done(null, chunk);
      else done(tooMuch());
    },
  });
}

function tooMuch(): CapstanError {
  return new CapstanError(
    'payload_too_large',
    `The body inflates to more than ${MAX_INFLATION} times its size: send it without Content-Encoding.`,
  );
}

/** Converts a read error of a streamed body to a `CapstanError`. */
export function brokenBody(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  return (
    corruptBody(error) ??
    new CapstanError('cancelled', 'The client disconnected before the end of its body.', { cause: error })
  );
}

/** Returns the failure of a body that cannot be decompressed; undefined for other errors. */
export function corruptBody(error: unknown): CapstanError | undefined {
  if (!/^(?:Z_|ERR_(?:_)?(?:ZLIB|BROTLI))/.test(codeOf(error) ?? '')) return undefined;
  const reason = 'The body cannot be decompressed as its Content-Encoding says.';
  return new CapstanError('invalid_json', reason, { cause: error });
}

export function unknownCoding(): CapstanError {
  return new CapstanError('unsupported_media_type', 'The Content-Encoding must be gzip, deflate, br or identity.');
}

function decoderOf(encoding: string): BodyDecoder {
  switch (encoding.trim().toLowerCase()) {
    case 'identity':
      return undefined;
    case 'gzip':
      return createGunzip;
    case 'deflate':
      return createInflate;
    case 'br':
      return createBrotliDecompress;
    default:
      throw unknownCoding();
  }
}
