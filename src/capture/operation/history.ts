import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count, instant } from '../basics/values.ts';
import { percent } from './pressure.ts';

const milliseconds = z.number().nonnegative();
const percentiles = z
  .strictObject({ p50: milliseconds, p95: milliseconds, p99: milliseconds })
  .nullable()
  .meta({ description: 'Milliseconds, over the last minute; null without a capture.' });

/** Load of a process at one time of the last hour: an element of `GET /stats/history`. */
export const LoadSampleSchema = z.strictObject({
  at: instant,
  interval_ms: milliseconds.meta({ description: 'Time since the sample before.' }),
  stored: count.meta({ description: 'Since the sample before, as are `failed`, `timed_out` and `refused`.' }),
  failed: count,
  timed_out: count,
  refused: count.meta({ description: 'Not admitted, or refused when their turn came.' }),
  running: count,
  queued: count,
  max_concurrent: count,
  wait_ms: percentiles,
  duration_ms: percentiles,
  cpu: percent.meta({ description: 'Per cent of all processors of the machine.' }),
  memory: percent.nullable().meta({ description: 'Per cent in use.' }),
  event_loop_delay_ms: milliseconds.meta({ description: 'The longest since the sample before.' }),
  browsers: count.meta({ description: 'Processes.' }),
});

export type LoadSample = Immutable<z.output<typeof LoadSampleSchema>>;
