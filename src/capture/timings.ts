import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { CAPTURE_PHASES } from './phases.ts';
import { count } from './values.ts';

export const TimingsSchema = z
  .partialRecord(z.enum(CAPTURE_PHASES), count)
  .meta({ description: 'Milliseconds in each phase that the capture entered.' });

export type Timings = Immutable<z.output<typeof TimingsSchema>>;
