import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib';
import { CapstanError } from '../../capture/errors.ts';

/** Undefined for bytes that are sent as they are. */
export type BodyDecoder = (() => Transform & Zlib) | undefined;

/** One JSON value on each line. */
export const LINES_TYPE = 'application/x-ndjson';

/** A body that is read as it arrives: it may take as long as it takes, so long as it keeps coming. */
export function isStreamedBody(request: IncomingMessage): boolean {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase() === LINES_TYPE;
}

/** How the bytes of a body are decompressed as they arrive. Throws `unsupported_media_type` for what nobody here reads. */
export function bodyDecoder({ headers }: IncomingMessage): BodyDecoder {
  return decoderOf(headers['content-encoding'] ?? 'identity');
}

/** Inflated bytes for each byte that was sent. Lists of URLs compress to a tenth or a twentieth. */
const MAX_INFLATION = 100;
/** Inflated bytes that are taken at any ratio. */
const FREE_INFLATED_BYTES = 4 * 1024 * 1024;

/**
 * The bytes of a body, decompressed as they arrive. Errors with `payload_too_large` when they inflate to too much.
 * Destroying what is returned stops the decompression, and leaves the request open.
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

/** Passes on what the decoder makes of its bytes, up to the maximum ratio. */
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

/** Why a streamed body could not be read to its end. */
export function brokenBody(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:Z_|ERR_(?:_)?(?:ZLIB|BROTLI))/.test(code)
    ? new CapstanError('invalid_json', 'The body is not what its Content-Encoding says.', { cause: error })
    : new CapstanError('cancelled', 'The client went away before the end of its body.', { cause: error });
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
      throw new CapstanError('unsupported_media_type', 'The Content-Encoding must be gzip, deflate, br or identity.');
  }
}
