import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { apiKeyName } from './named-key.ts';
import { CAPTURE_PHASES } from './phases.ts';
import { count, id } from './values.ts';

/** A capture that has no outcome yet: an element of `GET /captures`. */
export const InFlightSchema = z.strictObject({
  id,
  url: z.string(),
  host: z.string(),
  batch: z.string().nullable().meta({ description: 'Id of its batch.' }),
  request_id: z.string().nullable().meta({
    description: '`X-Request-Id` of the request that waits for it; null for those of batches and jobs.',
  }),
  state: z.enum(['queued', 'running']),
  position: count.nullable().meta({
    description: 'Place in the order of admission, from 1; null when it runs. Clients with names take turns.',
  }),
  phase: z.enum(CAPTURE_PHASES).nullable().meta({ description: 'Current phase; null before it has a page.' }),
  waited_ms: count.meta({ description: 'Milliseconds in the queue.' }),
  running_ms: count.meta({ description: 'Milliseconds since it was given a slot; 0 while it waits.' }),
  api_key_name: apiKeyName,
});

export type InFlight = Immutable<z.output<typeof InFlightSchema>>;
