import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';

/** A sum of money, as `extract` and the values of watches have it. */
export const MoneySchema = z.strictObject({
  amount: z.number(),
  to: z.number().nullable().meta({ description: 'Upper end of a range.' }),
  currency: z.string().nullable().meta({ description: 'ISO 4217.' }),
});
export type Money = Immutable<z.output<typeof MoneySchema>>;
