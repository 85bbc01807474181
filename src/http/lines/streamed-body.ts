import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { CapstanError } from '../../capture/errors.ts';

/** Undefined for bytes that are sent as they are. */
export type BodyDecoder = (() => Transform) | undefined;

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

/** The bytes of a body, decompressed as they arrive. */
export function decodedBody(request: IncomingMessage, createDecoder: BodyDecoder): Readable {
  if (createDecoder === undefined) return request;
  const decoder = createDecoder();
  request.once('close', () => {
    if (!request.complete) decoder.destroy(new Error('aborted'));
  });
  return request.pipe(decoder);
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
