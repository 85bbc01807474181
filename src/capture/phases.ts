import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { count } from './values.ts';

/** Phases of a capture in the browser, in order. */
export const CAPTURE_PHASES = [
  'open',
  'navigate',
  'load',
  'interact',
  'wait',
  'settle',
  'picture',
  'evidence',
] as const;
export type CapturePhase = (typeof CAPTURE_PHASES)[number];

export const TimingsSchema = z
  .partialRecord(z.enum(CAPTURE_PHASES), count)
  .meta({ description: 'Milliseconds in each phase that the capture entered.' });

export type Timings = Immutable<z.output<typeof TimingsSchema>>;
