import { z } from 'zod';
import { type CaptureLimits, LIMIT_BOUNDS, type Pressure } from '../../capture/domain.ts';
import type { LimitsChange } from '../../service/capture-service.ts';

const FIELDS = Object.keys(LIMIT_BOUNDS).join(', ');

/** The body of PATCH /limits: what it names is changed. */
export const LimitsChangeSchema = z
  .strictObject(
    {
      maxConcurrent: limit('maxConcurrent').optional().meta({ description: 'Captures under way at once.' }),
      maxQueue: limit('maxQueue').optional().meta({ description: 'Captures that may wait.' }),
    },
    {
      error: ({ code }) =>
        code === 'unrecognized_keys' ? `is no limit; the limits are ${FIELDS}` : `must be a JSON object of ${FIELDS}`,
    },
  )
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: `must name at least one of ${FIELDS}`,
  })
  .meta({ minProperties: 1 }) satisfies z.ZodType<LimitsChange>;

export const CaptureLimitsSchema = z.strictObject({
  maxConcurrent: limit('maxConcurrent'),
  maxQueue: limit('maxQueue'),
}) satisfies z.ZodType<CaptureLimits>;

const count = z.int().nonnegative();
const percent = z.number().min(0).max(100);

export const PressureSchema = z.strictObject({
  running: count,
  queued: count,
  maxConcurrent: count,
  maxQueued: count,
  cpu: percent.meta({ description: 'Of all processors of the machine, over the last second.' }),
  memory: percent.nullable().meta({
    description:
      "Per cent in use of the memory of the machine, or of the service's control group; null where the system does not tell.",
  }),
  eventLoopDelayMs: z.number().nonnegative().meta({ description: '99th percentile of the last second.' }),
  accepting: z.boolean().meta({ description: 'Whether a capture that is asked for now is taken.' }),
  reason: z.string().meta({ description: 'Why not, for people; empty when it is.' }),
}) satisfies z.ZodType<Pressure>;

function limit(name: keyof CaptureLimits) {
  const { min, max } = LIMIT_BOUNDS[name];
  const error = `must be an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}
