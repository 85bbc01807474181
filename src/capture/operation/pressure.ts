import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count } from '../basics/values.ts';
import { ClusterStatsSchema } from './stats.ts';

export const percent = z.number().min(0).max(100);

/** Load of the service, and whether it admits captures: `GET /pressure`. */
export const PressureSchema = z.strictObject({
  running: count,
  queued: count,
  maxConcurrent: count,
  maxQueued: count,
  cpu: percent.meta({ description: 'Per cent of all processors of the machine, over the last second.' }),
  memory: percent.nullable().meta({
    description:
      "Per cent in use of the memory of the machine, or of the service's control group; null where the system does not report it.",
  }),
  eventLoopDelayMs: z.number().nonnegative().meta({ description: 'Milliseconds: 99th percentile of the last second.' }),
  accepting: z.boolean().meta({ description: 'Whether a new capture is admitted.' }),
  reason: z.string().meta({
    description:
      'Reason for which no capture is admitted or, in a cluster without workers, for which admitted captures wait; else empty. For people.',
  }),
  cluster: ClusterStatsSchema,
});

/** Parts of the service that can fail by themselves. */
export const degradedParts = z
  .array(z.enum(['captures', 'database']))
  .readonly()
  .meta({ description: 'Parts that cannot be used, although the rest works.' });
export type DegradedParts = z.output<typeof degradedParts>;

export type Pressure = Immutable<z.output<typeof PressureSchema>>;

/** The reason for refusing new captures although the queue has room. */
export interface Overload {
  /** Text for people. */
  readonly reason: string;
  /** Number of captures that are still admitted. */
  readonly maxTaken: number;
  /** Expected minimum duration, in milliseconds: a client that retries sooner is refused again. */
  readonly minMs: number;
}
