import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';

/** Bounds of the capture limits, at the start and while the service runs. */
export const LIMIT_BOUNDS = {
  maxConcurrent: { min: 1, max: 1000 },
  maxQueue: { min: 0, max: 1_000_000 },
} as const;

/** Bounds of the limits of a cluster. */
export const CLUSTER_BOUNDS = {
  maxConcurrent: { min: 1, max: 100_000 },
  maxQueue: LIMIT_BOUNDS.maxQueue,
} as const;

const FIELDS = Object.keys(LIMIT_BOUNDS).join(', ');

export const CaptureLimitsSchema = z.strictObject({
  maxConcurrent: limit('maxConcurrent').meta({ description: 'Captures that may run at once.' }),
  maxQueue: limit('maxQueue').meta({ description: 'Captures that may wait.' }),
});

/** Service-wide maximum numbers of running and of queued captures. */
export type CaptureLimits = Immutable<z.output<typeof CaptureLimitsSchema>>;

/** Body of `PATCH /limits`: changes the limits that it names. */
export const LimitsChangeSchema = z
  .strictObject(CaptureLimitsSchema.partial().shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `is not a limit; the limits are ${FIELDS}` : `must be a JSON object of ${FIELDS}`,
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: `must name at least one of ${FIELDS}`,
  })
  .meta({ minProperties: 1 });

export type LimitsChange = Immutable<z.output<typeof LimitsChangeSchema>>;

/** Uses the bounds of a cluster, which are wider than those of one process. The service checks its own bounds. */
function limit(name: keyof typeof CLUSTER_BOUNDS) {
  const { min, max } = CLUSTER_BOUNDS[name];
  const error = `must be an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}
