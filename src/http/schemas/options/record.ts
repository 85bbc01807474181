import { z } from 'zod';

/** Thirty days: what is older is no answer to a question of now. */
const MAX_CACHE_AGE_MS = 30 * 24 * 60 * 60 * 1000;
const CACHE_AGE = `must be an integer of milliseconds from 0 to ${MAX_CACHE_AGE_MS}`;

/** What is noted beside the picture, and what may be taken in place of a new capture. */
export const recordFields = {
  cacheMaxAgeMs: z
    .int({ error: CACHE_AGE })
    .min(0, { error: CACHE_AGE })
    .max(MAX_CACHE_AGE_MS, { error: CACHE_AGE })
    .optional()
    .meta({
      description:
        'A stored capture of exactly this URL with equal options that is at most so old is the answer, with `cached: true`; equal requests under way that have it share one page. 0, the default: captured anew.',
    }),
};
