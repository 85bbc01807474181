import { z } from 'zod';
import type { Immutable } from '../../capture/basics/immutable.ts';
import { count, instant } from '../../capture/basics/values.ts';
import { apiKeyName } from '../../capture/named-key.ts';

const eventId = z.int().nonnegative();

/** A standing query. */
export const QuerySchema = z.strictObject({
  id: z.string(),
  filter: z.looseObject({}).meta({ description: 'As it was given.' }),
  api_key_name: apiKeyName,
  created_at: instant,
  position: eventId.meta({ description: 'Events up to this id are acknowledged, or do not match.' }),
  delivered: eventId.meta({ description: 'The id of the last event that was delivered.' }),
  acknowledged_at: instant.nullable().meta({ description: 'When events were last acknowledged.' }),
  notify: z.array(z.string()).meta({ description: 'Names of receivers that are told of events that match.' }),
  pending: z
    .strictObject({
      events: count.meta({ description: 'Events that match and are not acknowledged.' }),
      complete: z.boolean().meta({
        description: 'False: there may be more, because at most 1000 are counted, among the next 10,000 of the log.',
      }),
      lag_seconds: count.meta({ description: 'Age of the oldest of them; 0 when there are none.' }),
    })
    .exactOptional()
    .meta({ description: 'Only in the answer to `GET /queries/{id}`.' }),
});

export type QueryAnswer = Immutable<z.output<typeof QuerySchema>>;

/** Events of a standing query. */
export const DeliverySchema = z.strictObject({
  events: z.array(
    z.strictObject({
      id: eventId,
      event: z.looseObject({ v: z.int(), type: z.string(), at: instant }).meta({
        description: 'As `GET /events` sends it; also a `gap`.',
      }),
    }),
  ),
  position: eventId.nullable().meta({ description: 'What to acknowledge when the events are processed.' }),
});

export const RemovedQuerySchema = z.strictObject({ id: z.string() });
