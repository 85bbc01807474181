import { z } from 'zod';

/* Building blocks of the option schemas. Each has one error text, which names the accepted values. */

const MAX_SELECTOR_CHARACTERS = 1000;

export const flag = z.boolean({ error: 'must be true or false' });

/** A CSS selector, or an XPath, which is recognised by its beginning. */
export const selector = filled('a CSS selector or an XPath', MAX_SELECTOR_CHARACTERS);

/** A text of 1 to `max` characters; the error calls it `what`. */
export function filled(what: string, most: number) {
  const error = `must be ${what} of 1 to ${most} characters`;
  return z.string({ error }).min(1, { error }).max(most, { error });
}

/** An integer from `min` to `max`. */
export function integer(unit: string, least: number, most: number) {
  const error = `must be an integer${of(unit)} from ${least} to ${most}`;
  return z.int({ error, abort: true }).min(least, { error, abort: true }).max(most, { error, abort: true });
}

/** A number from `min` to `max`. */
export function quantity(unit: string, least: number, most: number) {
  const error = `must be a number${of(unit)} from ${least} to ${most}`;
  return z.number({ error }).min(least, { error, abort: true }).max(most, { error, abort: true });
}

/** Turns an empty list into undefined, so that equal requests compare equal. */
export function noneIfEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** An object of exactly these fields. The errors call it `what`, and `accepted` describes it. */
export function objectOf<S extends z.ZodRawShape>(shape: S, what: string, right: string) {
  return z.strictObject(shape, { error: objectError(what, Object.keys(shape), right) });
}

/** Returns the error of a strict object: its field names for an unknown field, else what the value must be. */
export function objectError(what: string, fields: readonly string[], right = `a JSON object, ${what}`) {
  return (issue: { readonly code?: string | undefined }) =>
    issue.code === 'unrecognized_keys'
      ? `is not a field of ${what}; its fields are ${fields.join(', ')}`
      : `must be ${right}`;
}

function of(unit: string): string {
  return unit === '' ? '' : ` of ${unit}`;
}
