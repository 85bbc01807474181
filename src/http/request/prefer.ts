import { z } from 'zod';
import type { HttpContext } from '../state.ts';

/** The header, for the OpenAPI document. */
export const prefer = z
  .string()
  .optional()
  .meta({
    description:
      '`respond-async`: the answer is 202 and names a job, which needs a database. Not applied to a body of lines.',
    examples: ['respond-async'],
  });

/** Returns whether `Prefer` asks for `respond-async` (RFC 7240). Other preferences are ignored. */
export function prefersAsync(ctx: HttpContext): boolean {
  return ctx
    .get('Prefer')
    .split(',')
    .some((preference) => /^respond-async\s*(?:;|$)/i.test(preference.trim()));
}
