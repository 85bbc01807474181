import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';

/** The action taken on a cookie banner. */
export const BannerSchema = z.strictObject({
  found: z.boolean(),
  rule: z.string().meta({
    description:
      'Name of the rule of autoconsent that knew the banner; `words` when only the words on its buttons were known; empty when no banner was found.',
  }),
  action: z.enum(['accepted', 'rejected', 'acknowledged', 'none']).meta({
    description: '`acknowledged`: its only button was "OK", which neither accepts nor rejects.',
  }),
});

export type Banner = Immutable<z.output<typeof BannerSchema>>;

export const NO_BANNER: Banner = { found: false, rule: '', action: 'none' };
