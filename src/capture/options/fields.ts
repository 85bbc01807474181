import { z } from 'zod';
import { suggestion } from '../basics/similar-names.ts';
import { MAX_SELECTOR_CHARACTERS, parseSelector, SelectorError } from '../comparison/selector.ts';
import { optionFacts } from './facts.ts';

/* Building blocks of the option schemas. Each has one error text, which names the accepted values. */

export const flag = z.boolean({ error: 'must be true or false' });

/** A selector of elements, as `parseSelector` reads it. */
export const selector = filled('a CSS selector or an XPath', MAX_SELECTOR_CHARACTERS)
  .superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: notASelector(text, problem) });
  })
  .register(optionFacts, { secret: false });

/** The error text for a selector that is none; what is accepted follows the problem. */
export function notASelector(text: string, problem: string): string {
  return `${JSON.stringify(text)} is no selector: ${problem}; it must be CSS or XPath, in steps separated by >>`;
}

function problemOf(text: string): string | undefined {
  // Another check has refused these.
  if (text === '' || text.length > MAX_SELECTOR_CHARACTERS) return undefined;
  try {
    parseSelector(text);
    return undefined;
  } catch (error) {
    if (error instanceof SelectorError) return error.message;
    throw error;
  }
}

/** A text of 1 to `max` characters; the error calls it `what`. */
export function filled(what: string, max: number) {
  const error = `must be ${what} of 1 to ${max} characters`;
  return z.string({ error }).min(1, { error }).max(max, { error });
}

export function textOf(max: number) {
  return z.string({ error: 'must be a string' }).max(max, { error: `must have at most ${max} characters` });
}

/** A list of at most `max` elements; the errors call them `what`. */
export function listOf<E extends z.ZodType>(element: E, what: string, max: number) {
  return z
    .array(element, { error: `must be a list of ${what}` })
    .max(max, { error: `must have at most ${max} ${what}` });
}

export function integer(unit: string, min: number, max: number) {
  const error = `must be an integer${of(unit)} from ${min} to ${max}`;
  return z.int({ error, abort: true }).min(min, { error, abort: true }).max(max, { error, abort: true });
}

export function quantity(unit: string, min: number, max: number) {
  const error = `must be a number${of(unit)} from ${min} to ${max}`;
  return z.number({ error }).min(min, { error, abort: true }).max(max, { error, abort: true });
}

/** Turns an empty list into undefined, so that equal requests compare equal. */
export function noneIfEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/**
 * An object with exactly the fields of `shape`. The errors call the object `what`; `accepted` is their description of a
 * valid one.
 */
export function objectOf<S extends z.ZodRawShape>(shape: S, what: string, accepted: string) {
  return z.strictObject(shape, { error: objectError(what, Object.keys(shape), accepted) });
}

/**
 * Returns the error text of a strict object. For an unknown field it names similar fields and all fields; otherwise it
 * says what the value must be.
 */
export function objectError(what: string, fields: readonly string[], accepted = `a JSON object, ${what}`) {
  return (issue: { readonly code?: string | undefined; readonly keys?: readonly string[] }) => {
    if (issue.code !== 'unrecognized_keys') return `must be ${accepted}`;
    return `is not a field of ${what}${suggestion(issue.keys ?? [], fields)}; its fields are ${fields.join(', ')}`;
  };
}

/** Joins the problems of one of several schemas for the error of their union, each with its place. */
export function joinedProblems(problems: readonly z.core.$ZodIssue[]): string {
  return problems
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

function of(unit: string): string {
  return unit === '' ? '' : ` of ${unit}`;
}
