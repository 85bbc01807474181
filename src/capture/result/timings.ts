import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count } from '../basics/values.ts';
import { CAPTURE_PHASES } from '../phases.ts';

export const TimingsSchema = z
  .partialRecord(z.enum(CAPTURE_PHASES), count)
  .meta({ description: 'Milliseconds in each phase that the capture entered.' });

export type Timings = Immutable<z.output<typeof TimingsSchema>>;
