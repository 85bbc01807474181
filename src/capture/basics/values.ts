import { z } from 'zod';

/* Values that several schemas share. */

export const id = z.int().positive().meta({ description: 'Below 2^53; increases with time.' });
export const count = z.int().nonnegative();
export const instant = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds.' });
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Returns a time, in milliseconds since 1970, as an `instant`. */
export const iso = (ms: number): string => new Date(ms).toISOString();

const INSTANT = 'must be a time in ISO 8601 such as 2026-01-31T12:00:00Z, or a date such as 2026-01-31';

/** A time as people write it; a date begins at midnight UTC. */
export const time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: INSTANT })
  .transform((text) => new Date(text).toISOString())
  .meta({ type: 'string' });

const choices = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Joins what is accepted for an error text: `png, jpeg or webp`. */
export function orOf(names: readonly string[]): string {
  return choices.format(names);
}
