import { z } from 'zod';

/*
 * What fields are made of. Each has one error text, which says what would be right, whatever is wrong.
 */

const MAX_SELECTOR_CHARACTERS = 1000;

export const flag = z.boolean({ error: 'must be true or false' });

/** CSS, or XPath by its beginning. */
export const selector = filled('a CSS selector or an XPath', MAX_SELECTOR_CHARACTERS);

/** A text of `what`, of 1 to `most` characters. */
export function filled(what: string, most: number) {
  const error = `must be ${what} of 1 to ${most} characters`;
  return z.string({ error }).min(1, { error }).max(most, { error });
}

/** A whole number of `unit`, bounds included. */
export function integer(unit: string, least: number, most: number) {
  const error = `must be an integer${of(unit)} from ${least} to ${most}`;
  return z.int({ error, abort: true }).min(least, { error, abort: true }).max(most, { error, abort: true });
}

/** Any number of `unit`, bounds included. */
export function quantity(unit: string, least: number, most: number) {
  const error = `must be a number${of(unit)} from ${least} to ${most}`;
  return z.number({ error }).min(least, { error, abort: true }).max(most, { error, abort: true });
}

/** A list that holds nothing is none: what asks for the same is the same. */
export function noneIfEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** An object of those fields and no others: `what` names it, `right` says how what is no object should look. */
export function objectOf<S extends z.ZodRawShape>(shape: S, what: string, right: string) {
  return z.strictObject(shape, { error: objectError(what, Object.keys(shape), right) });
}

/** The error of a strict object: which fields there are, or what it must be. */
export function objectError(what: string, fields: readonly string[], right = `a JSON object, ${what}`) {
  return (issue: { readonly code?: string | undefined }) =>
    issue.code === 'unrecognized_keys'
      ? `is not a field of ${what}; its fields are ${fields.join(', ')}`
      : `must be ${right}`;
}

function of(unit: string): string {
  return unit === '' ? '' : ` of ${unit}`;
}
