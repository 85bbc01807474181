import { bodyParser } from '@koa/bodyparser';
import { CapstanError } from '../../capture/errors.ts';
import { refusal } from '../../capture/validate.ts';
import { corruptBody, unknownCoding } from '../lines/streamed-body.ts';
import type { HttpContext } from '../state.ts';

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/i;
/** Maximum size of a decompressed body. The parser reads `mb` as 1024 * 1024. */
const LIMIT = '1mb';

/**
 * Returns a reader of JSON bodies into `ctx.request.body`. Any JSON value passes, because the schema checks it later;
 * the parser's strict mode would turn an empty body into `{}`. `alsoTaken`: another media type that the path accepts,
 * for error texts.
 */
export function jsonBody(alsoTaken?: string): (ctx: HttpContext) => Promise<void> {
  const parse = bodyParser({
    enableTypes: ['json'],
    // The type was checked before. The parser's own list of types lacks `+json` and cannot be extended.
    detectJSON: () => true,
    jsonStrict: false,
    jsonLimit: LIMIT,
    onError: (error, ctx) => {
      // Reads and drops the rest of the body, so that the client gets to read the answer.
      ctx.req.unpipe();
      ctx.req.resume();
      throw bodyFailure(error);
    },
  });
  return async (ctx) => {
    requireJson(ctx, alsoTaken);
    await parse(ctx, async () => {});
    requireContent(ctx);
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

function requireContent({ request }: HttpContext): void {
  if (request.rawBody !== undefined && request.rawBody.trim() !== '') return;
  throw new CapstanError('invalid_json', 'The body is empty: it must be a JSON object.');
}

/** Converts an error of the parser, which has a status and the text that could not be parsed. */
function bodyFailure(error: Error & { status?: unknown; body?: unknown }): Error {
  if (error.status === 413) return new CapstanError('payload_too_large');
  if (error.status === 415) return unknownCoding();
  if (typeof error.body === 'string') {
    // The parser also refuses valid JSON with a key that could pollute a prototype.
    if (isJson(error.body)) return refusal([{ path: '__proto__', message: 'is not a field of the request' }]);
    return new CapstanError('invalid_json', `The body is not valid JSON: ${error.message}`, { cause: error });
  }
  if (error.status === 400) {
    return new CapstanError('invalid_json', 'The body ended before its Content-Length.', { cause: error });
  }
  return corruptBody(error) ?? error;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
