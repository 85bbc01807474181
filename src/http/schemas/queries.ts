import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { MAX_DISTANCE } from '../../storage/result-store.ts';
import { readIdCursor, readKeysetCursor } from '../cursor.ts';
import { parseOrRefuse, refusal } from '../problems.ts';
import { readTarget } from '../target-url.ts';
import { callbackUrl, MAX_URL_CHARACTERS } from './requests.ts';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;

const limit = z
  .string()
  .regex(/^-?\d+$/, { error: 'must be an integer' })
  .transform((text) => (Number(text) > 0 ? Math.min(Number(text), MAX_LIMIT) : DEFAULT_LIMIT))
  .optional();

const keysetCursor = z.string().transform(cursorOf(readKeysetCursor)).optional();

export const ResultsQuery = z.object({ limit, cursor: keysetCursor });

export const ByUrlQuery = z.object({
  url: z
    .string({ error: 'is required: the URL to look for' })
    .max(MAX_URL_CHARACTERS, { error: `must have at most ${MAX_URL_CHARACTERS} characters`, abort: true })
    .transform((text, context) => {
      const target = readTarget(text);
      if (target.ok) return target.url;
      context.addIssue({ code: 'custom', message: target.problem });
      return z.NEVER;
    }),
  limit,
  cursor: keysetCursor,
});

export const ByHostQuery = z.object({
  host: z
    .string({ error: 'is required: the host to look for, or how it starts' })
    .trim()
    .min(1, { error: 'must not be blank: give a host such as example.com' }),
  limit,
  cursor: keysetCursor,
});

const DISTANCE = { error: `must be an integer from 0 to ${MAX_DISTANCE}, bits of the hash that may differ` };
export const DEFAULT_DISTANCE = 5;

export const SimilarQuery = z.object({
  distance: z
    .string()
    .regex(/^\d+$/, DISTANCE)
    .transform(Number)
    .pipe(z.number().max(MAX_DISTANCE, DISTANCE))
    .optional(),
  limit,
});

export const ScreenshotsQuery = z.object({
  limit,
  cursor: z.string().transform(cursorOf(readIdCursor)).optional(),
});

export const BatchQuery = z.object({
  concurrency: z
    .string()
    .regex(/^0*[1-9]\d*$/, { error: 'must be an integer of 1 or more' })
    .transform(Number)
    .optional(),
  callback: callbackUrl.optional(),
});

export const JobQuery = z.object({
  limit,
  cursor: z.string().transform(cursorOf(readIdCursor)).optional(),
});

export const VIEWS = ['image', 'metadata', 'html'] as const;
export const ScreenshotQuery = z.object({
  view: z.enum(VIEWS, { error: 'must be image, metadata or html' }).optional(),
});

/**
 * Reads the parameters that a schema names and no others; one that is given twice is refused, for which was meant?
 * Those that may be given more than once are lists.
 */
export function parseQuery<S extends z.ZodObject>(
  schema: S,
  querystring: string,
  lists: readonly string[] = [],
): z.output<S> {
  const given = new URLSearchParams(querystring);
  const names = Object.keys(schema.shape).filter((name) => given.has(name));
  const repeated = names.filter((name) => !lists.includes(name) && given.getAll(name).length > 1);
  if (repeated.length > 0) throw refusal(repeated.map((path) => ({ path, message: 'must be given only once' })));
  return parseOrRefuse(
    schema,
    Object.fromEntries(names.map((name) => [name, lists.includes(name) ? given.getAll(name) : given.get(name)])),
  );
}

/** The id in a path. One too great to be an id names nothing; that is for whoever looks it up to say. */
export function parseId(text: string | undefined): number {
  if (text === undefined || !/^0*[1-9]\d*$/.test(text)) {
    throw new CapstanError('invalid_id', `The id must be a positive integer, not ${JSON.stringify(text ?? '')}.`);
  }
  const id = Number(text);
  if (!Number.isSafeInteger(id)) throw new CapstanError('not_found', `There is nothing with the id ${text}.`);
  return id;
}

function cursorOf<T>(read: (cursor: string) => T | undefined) {
  return (text: string, context: z.RefinementCtx): T => {
    const place = read(text);
    if (place !== undefined) return place;
    context.addIssue({ code: 'custom', message: 'is not a cursor of this list: take it from Link: rel="next"' });
    return z.NEVER;
  };
}
