import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count, id } from '../basics/values.ts';
import { isOfKey } from '../client.ts';
import { apiKeyName } from '../named-key.ts';
import { CAPTURE_PHASES } from '../phases.ts';

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
    description:
      'Place in the order of admission of its node, from 1; null when it runs. Clients with names take turns.',
  }),
  phase: z
    .enum(CAPTURE_PHASES)
    .nullable()
    .meta({ description: 'Current phase: `dial` while a queued one connects to its target; null while it waits.' }),
  waited_ms: count.meta({ description: 'Milliseconds in the queue.' }),
  running_ms: count.meta({ description: 'Milliseconds since it was given a slot; 0 while it waits.' }),
  node: z.string().nullable().meta({
    description: 'Name of the api node that admitted it, which a cluster gives each; null outside a cluster.',
  }),
  api_key_name: apiKeyName,
});

export type InFlight = Immutable<z.output<typeof InFlightSchema>>;

/** Conditions of the captures in flight that are listed, oldest first. Absent: all. */
export interface InFlightWanted {
  readonly limit: number;
  readonly requestId?: string | undefined;
  /** Name of an api node. */
  readonly node?: string | undefined;
  /** As `isOfKey` takes it. */
  readonly ofKey?: string | undefined;
}

export interface InFlightList {
  readonly captures: readonly InFlight[];
  /** Why captures are missing, for people; `''` when none are. */
  readonly missing: string;
}

/** Returns the wanted ones of these captures, of whatever node. */
export function wantedInFlight(captures: Iterable<InFlight>, wanted: Omit<InFlightWanted, 'node'>): InFlight[] {
  const found: InFlight[] = [];
  for (const capture of captures) {
    if (found.length >= wanted.limit) break;
    const isAsked = wanted.requestId === undefined || capture.request_id === wanted.requestId;
    if (isAsked && isOfKey(capture, wanted.ofKey)) found.push(capture);
  }
  return found;
}
