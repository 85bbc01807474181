import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { count } from './values.ts';

const percent = z.number().min(0).max(100);

/** How much the service has to do, and whether it takes more: `GET /pressure`. */
export const PressureSchema = z.strictObject({
  running: count,
  queued: count,
  maxConcurrent: count,
  maxQueued: count,
  cpu: percent.meta({ description: 'Per cent of all processors of the machine, over the last second.' }),
  memory: percent.nullable().meta({
    description:
      "Per cent in use of the memory of the machine, or of the service's control group; null where the system does not tell.",
  }),
  eventLoopDelayMs: z.number().nonnegative().meta({ description: 'Milliseconds: 99th percentile of the last second.' }),
  accepting: z.boolean().meta({ description: 'Whether a new capture is admitted.' }),
  reason: z.string().meta({ description: 'Why none is admitted, for people; empty when it is.' }),
});

export type Pressure = Immutable<z.output<typeof PressureSchema>>;

/** Why new work is refused although there may be room. */
export interface Overload {
  /** For people. */
  readonly reason: string;
  /** Captures that may be admitted all the same. */
  readonly most: number;
  /** Minimum duration in milliseconds: a client that returns sooner is refused again. */
  readonly minMs: number;
}
