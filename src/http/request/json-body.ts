import { bodyParser } from '@koa/bodyparser';
import { CapstanError } from '../../capture/errors.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import { dropBody } from '../connection/drop-body.ts';
import { corruptBody, unknownCoding } from '../lines/streamed-body.ts';
import type { HttpContext } from '../state.ts';
import { parseJson } from './parse-json.ts';
import { requireUtf8, utf8Text } from './utf8.ts';

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/i;
export const MAX_BODY_BYTES = REQUEST_LIMITS.body.max;

/**
 * Returns a reader of JSON bodies into `ctx.request.body`. Any JSON value passes, because the schema checks it later.
 * `alsoTaken`: another media type that the path accepts, for error texts.
 */
export function jsonBody(alsoTaken?: string): (ctx: HttpContext) => Promise<void> {
  const read = bodyParser({
    // The type was checked before. The parser would replace what is not UTF-8: it reads bytes, a character for each.
    enableTypes: ['text'],
    extendTypes: { text: ['*/*'] },
    encoding: 'latin1',
    textLimit: `${MAX_BODY_BYTES}b`,
    onError: (error, ctx) => {
      dropBody(ctx.req);
      throw bodyFailure(error);
    },
  });
  return async (ctx) => {
    requireJson(ctx, alsoTaken);
    requireUtf8(ctx.req);
    await read(ctx, async () => {});
    ctx.request.body = jsonOf(Buffer.from(ctx.request.rawBody ?? '', 'latin1'));
  };
}

function requireJson(ctx: HttpContext, alsoTaken: string | undefined): void {
  if (JSON_TYPE.test(ctx.request.type)) return;
  const right = `application/json${alsoTaken === undefined ? '' : ` or ${alsoTaken}`}`;
  const given = ctx.get('Content-Type');
  throw new CapstanError(
    'unsupported_media_type',
    `The Content-Type must be ${right}, ${given === '' ? 'and is missing' : `not ${JSON.stringify(given)}`}.`,
  );
}

function jsonOf(bytes: Buffer): unknown {
  const text = utf8Text(bytes);
  if (text === undefined) throw new CapstanError('invalid_json', 'The body is not UTF-8.');
  if (text.trim() === '') throw new CapstanError('invalid_json', 'The body is empty: it must be a JSON object.');
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CapstanError('invalid_json', `The body is not valid JSON: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** Converts an error of the parser, which has a status. */
function bodyFailure(error: Error & { status?: unknown }): Error {
  if (error.status === 413) return new CapstanError('payload_too_large');
  if (error.status === 415) return unknownCoding();
  if (error.status === 400) {
    return new CapstanError('invalid_json', 'The body ended before its Content-Length.', { cause: error });
  }
  return corruptBody(error) ?? error;
}
