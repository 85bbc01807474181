import { z } from 'zod';
import type { Immutable } from './basics/immutable.ts';

/** An invalid field of a request. */
export const FieldProblemSchema = z.strictObject({
  path: z.string().meta({
    description: 'Path of the field, such as `requests[3].url`; empty for the whole body.',
    examples: ['requests[3].url'],
  }),
  message: z.string().meta({ description: 'What is wrong and what is accepted.' }),
});
export type FieldProblem = Immutable<z.output<typeof FieldProblemSchema>>;

/** A target that the browser downloaded instead of showing it. */
export const DownloadSchema = z.strictObject({
  name: z.string(),
  type: z.string().meta({ description: 'MIME type; empty when unknown.' }),
  bytes: z.int().nonnegative().nullable().meta({ description: 'Size in bytes; null when unknown.' }),
});
export type Download = Immutable<z.output<typeof DownloadSchema>>;
