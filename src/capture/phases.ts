import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { count } from './values.ts';

/** Phases of a capture, in order: `dial` comes before it waits for a slot, the others are those in the browser. */
export const CAPTURE_PHASES = [
  'dial',
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
