import { z } from 'zod';
import { EVENT_NAMES } from '../../capture/events.ts';
import { notifyField } from '../../capture/work/receiver.ts';
import type { EventFilter } from '../../feed/event-filter.ts';
import { MAX_DISTANCE } from '../../storage/ports/result-store.ts';
import { eventConditions, hostPrefix } from './parameters.ts';

/* The filter of a standing query, as it is given and shown. Its names are those of the parameters of `GET /events`. */

const DEFAULT_DISTANCE = 5;
const DISTANCE = `must be an integer from 0 to ${MAX_DISTANCE}`;
const TYPES = `must be a list of event types or groups: ${EVENT_NAMES.join(', ')}`;

const MAX_HOST_CHARACTERS = 253;
const SHARE = 'must be a share of the pixels: from 0 to below 1';

const QueryFilterSchema = z.strictObject({
  type: z
    .array(z.enum(EVENT_NAMES, { error: TYPES }), { error: TYPES })
    .min(1, { error: TYPES })
    .max(EVENT_NAMES.length, { error: TYPES })
    .optional()
    .meta({ description: 'Event types or groups.' }),
  host: hostPrefix
    .max(MAX_HOST_CHARACTERS, { error: `must have at most ${MAX_HOST_CHARACTERS} characters` })
    .optional()
    .meta({ description: 'A host and its subdomains, or the beginning of one.' }),
  batch: z
    .string()
    .min(1, { error: 'must not be blank: give the id of a batch' })
    .max(200, { error: 'must have at most 200 characters' })
    .optional()
    .meta({ description: 'One batch and its captures.' }),
  ...eventConditions,
  similar: z
    .strictObject({
      to: z.int({ error: 'must be the id of a capture' }).positive({ error: 'must be the id of a capture' }),
      distance: z
        .int({ error: DISTANCE })
        .min(0, { error: DISTANCE })
        .max(MAX_DISTANCE, { error: DISTANCE })
        .default(DEFAULT_DISTANCE)
        .meta({ description: 'Bits that may differ, of 64.' }),
    })
    .optional()
    .meta({
      description:
        'Captures that look like one. Both need a `perception_hash`: capture with `evidence: ["perception_hash"]`.',
    }),
  changedMoreThan: z
    .number({ error: SHARE })
    .min(0, { error: SHARE })
    .lt(1, { error: SHARE })
    .optional()
    .meta({ description: 'Events of watches whose image changed by more than this share of its pixels.' }),
});

export const NewQuerySchema = z.strictObject({
  filter: QueryFilterSchema.default({}).meta({ description: 'All given conditions must hold.' }),
  notify: notifyField.meta({ description: 'Names of receivers that are told of later events that match.' }),
  after: z
    .int({ error: 'must be the id of an event' })
    .min(0, { error: 'must be the id of an event' })
    .optional()
    .meta({
      description: 'The id of the event after which the query begins; 0 is the beginning of the log. Without: now.',
    }),
});

export type NewQuery = z.output<typeof NewQuerySchema>;

/** Returns the filter as it is shown. */
export function shownFilter({
  types,
  host,
  batch,
  where = {},
  similar,
  changedMoreThan,
}: EventFilter): Readonly<Record<string, unknown>> {
  const { option, label, ...conditions } = where;
  const options = option?.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`));
  return {
    type: types,
    host,
    batch,
    ...conditions,
    option: options?.join(),
    label: label?.join(),
    similar: similar === undefined ? undefined : { to: similar.to, distance: similar.distance },
    changedMoreThan,
  };
}
