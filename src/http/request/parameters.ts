import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { conditionsSchema } from '../../capture/finding/result-conditions.ts';
import { MAX_URL_CHARACTERS, targetField } from '../../capture/request.ts';
import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import { readIdCursor, readKeysetCursor, readLetterCursor } from './cursor.ts';

/*
 * Parameters of paths and queries that several routes share. Each parses text; the OpenAPI document shows the type of
 * the parsed value, or that of `meta`.
 */

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = STORED_LIMITS.page.count;

export const captureId = idOf('capture').meta({
  type: 'integer',
  minimum: 1,
  description: "A capture's id, which is its result's id.",
});

export const watchId = idOf('watch').meta({ type: 'integer', minimum: 1, description: "A watch's id." });

/** The id of a `what`. A number beyond the safe integers is a valid id that does not exist: 404 rather than 400. */
function idOf(what: string) {
  return z.string().transform((text) => {
    if (!/^0*[1-9]\d*$/.test(text)) {
      throw new CapstanError('invalid_id', `The id must be a positive integer, not ${JSON.stringify(text)}.`);
    }
    const id = Number(text);
    if (!Number.isSafeInteger(id)) throw new CapstanError('not_found', `There is no ${what} with the id ${text}.`);
    return id;
  });
}

/** Maximum number of items. `absent` describes the answer to a request without the parameter. */
export function limitParameter(absent: string) {
  return integerText(z.number(), 'must be an integer')
    .transform((value) => (value > 0 ? Math.min(value, MAX_LIMIT) : DEFAULT_LIMIT))
    .optional()
    .meta({
      type: 'integer',
      description: `Maximum number of records. Above ${MAX_LIMIT} is cut to ${MAX_LIMIT}; 0 and below are ${DEFAULT_LIMIT}; without it: ${absent}.`,
    });
}

/** Position of a page of records. */
export const keysetCursorParameter = cursor(readKeysetCursor);

/** Position of a page of a list that is ordered by id. */
export const idCursorParameter = cursor(readIdCursor);

/** Position of a page of dead letters. */
export const letterCursorParameter = cursor(readLetterCursor);

export const targetUrl = targetField(z.string({ error: 'is required: the URL to look for' })).meta({
  type: 'string',
  minLength: 1,
  maxLength: MAX_URL_CHARACTERS,
  description:
    'The URL that was fetched or `final_url`, however it is written. Without a scheme, both `https://` and `http://` match.',
});

/** Conditions of a list of results. */
export const conditionParameters = conditionsSchema.shape;

const { from: _from, to: _to, ...ofResult } = conditionsSchema.shape;

/** Conditions of events: those on the result of a capture. */
export const eventConditions = ofResult;

/** A host, or the beginning of one. */
export const hostPrefix = z
  .string({ error: 'is required: the host to look for, or the beginning of one' })
  .trim()
  .min(1, { error: 'must not be blank: give a host such as example.com' })
  .superRefine((text, context) => {
    const problem = hostProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** Returns what is wrong with a host that has a scheme, a path or a port; undefined when nothing is. */
function hostProblem(text: string): string | undefined {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  if (/\s/.test(text)) return `must be one host such as example.com, without spaces: ${shown}`;
  if (/[/?#@\\]/.test(text)) return `must be a host such as example.com, not a URL: ${shown}`;
  const [, host] = /^(\[.*\]|[^:]*):\d*$/.exec(text) ?? [];
  // An IPv6 address may begin with `2001:`.
  if (host === undefined || /^[\da-f]{1,4}$/i.test(host)) return undefined;
  return `must be a host without a port: ${JSON.stringify(host)}, not ${shown}`;
}

/** A decimal integer. The errors are those of `value`. */
export function asText(value: z.ZodType<number, number>) {
  return z
    .string()
    .transform((text) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN))
    .pipe(value);
}

/** A decimal integer, bounded by `value`. */
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
    .meta({ type: 'string', description: 'Position of the page: opaque, from `Link: rel="next"` of the page before.' });
}
