import { z } from 'zod';
import { CapstanError } from '../capture/errors.ts';
import { MAX_URL_CHARACTERS } from '../capture/request.ts';
import { readTarget } from '../capture/target.ts';
import { readIdCursor, readKeysetCursor } from './cursor.ts';

/*
 * Parameters that several routes have, in paths and queries. Each reads text; the OpenAPI document shows what it is
 * read as, or what `meta` says.
 */

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;

/** A capture's id. One that is too great to be an id names nothing, which is 404 and not 400. */
export const captureId = z
  .string()
  .transform((text) => {
    if (!/^0*[1-9]\d*$/.test(text)) {
      throw new CapstanError('invalid_id', `The id must be a positive integer, not ${JSON.stringify(text)}.`);
    }
    const id = Number(text);
    if (!Number.isSafeInteger(id)) throw new CapstanError('not_found', `There is nothing with the id ${text}.`);
    return id;
  })
  .meta({ type: 'integer', minimum: 1, description: "A capture's id, which is its result's id." });

/** At most so many items. `absent` says what is answered without it. */
export function limitParameter(absent: string) {
  return integerText(z.number(), 'must be an integer')
    .transform((value) => (value > 0 ? Math.min(value, MAX_LIMIT) : DEFAULT_LIMIT))
    .optional()
    .meta({
      type: 'integer',
      description: `Most records in the answer. Over ${MAX_LIMIT} is cut to ${MAX_LIMIT}; 0 or negative is ${DEFAULT_LIMIT}; absent: ${absent}.`,
    });
}

/** Where a page of records begins. */
export const keysetCursorParameter = cursor(readKeysetCursor);

/** Where a page of what is listed by id begins. */
export const idCursorParameter = cursor(readIdCursor);

export const targetUrl = z
  .string({ error: 'is required: the URL to look for' })
  .max(MAX_URL_CHARACTERS, { error: `must have at most ${MAX_URL_CHARACTERS} characters`, abort: true })
  .transform((text, context) => {
    const target = readTarget(text);
    if (target.ok) return target.target.url;
    context.addIssue({ code: 'custom', message: target.problem });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    minLength: 1,
    maxLength: MAX_URL_CHARACTERS,
    description: '`https://` is put before it when it has no scheme, as it is when it is captured.',
  });

/** A host, or how it starts. */
export const hostPrefix = z
  .string({ error: 'is required: the host to look for, or how it starts' })
  .trim()
  .min(1, { error: 'must not be blank: give a host such as example.com' })
  .superRefine((text, context) => {
    const problem = hostProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** Why a text is not a host, when it is one with something around it. */
function hostProblem(text: string): string | undefined {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  if (/[/?#@\\]/.test(text)) return `must be a host such as example.com, not a URL: ${shown}`;
  const [, host] = /^(\[.*\]|[^:]*):\d*$/.exec(text) ?? [];
  // `2001:` is how an IPv6 address starts.
  if (host === undefined || /^[\da-f]{1,4}$/i.test(host)) return undefined;
  return `must be a host without a port: ${JSON.stringify(host)}, not ${shown}`;
}

/** A whole number, written in decimal, which `value` bounds. */
export function integerText<T extends z.ZodType<number, number>>(value: T, error: string) {
  return z
    .string()
    .regex(/^-?\d+$/, { error, abort: true })
    .transform(Number)
    .pipe(value);
}

function cursor<T>(read: (text: string) => T | undefined) {
  return z
    .string()
    .transform((text, context): T => {
      const place = read(text);
      if (place !== undefined) return place;
      context.addIssue({ code: 'custom', message: 'is not a cursor of this list: take it from Link: rel="next"' });
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', description: 'Where the page begins: opaque, taken from `Link: rel="next"`.' });
}
