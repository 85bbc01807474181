import { z } from 'zod';

/* Values that several schemas share. */

export const id = z.int().positive().meta({ description: 'Below 2^53; increases with time.' });
export const count = z.int().nonnegative();
export const instant = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds.' });
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const choices = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Joins what is accepted for an error text: `png, jpeg or webp`. */
export function orOf(names: readonly string[]): string {
  return choices.format(names);
}
