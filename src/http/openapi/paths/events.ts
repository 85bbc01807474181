import { EVENT_GROUPS, EVENT_TYPES } from '../../schemas/events.ts';
import type { JsonObject } from '../components.ts';
import { failures, response } from '../responses.ts';
import { EVERYWHERE } from './shared.ts';

/** What happens, as it happens. */
export const EVENT_PATHS: JsonObject = {
  '/events': { get: getEvents() },
};

function getEvents(): JsonObject {
  const text = (name: string, description: string) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string', minLength: 1 },
  });
  const lastEventId = { type: 'integer', minimum: 0 };
  return {
    operationId: 'subscribe',
    summary: 'What happens, as it happens.',
    description:
      'Server-Sent Events. Each has an `id` that grows, its type as `event`, and as `data` a JSON object with `v` (1), `type` and `at`, besides what its type has: `capture.stored` the `result`, failures the `failure`. Who comes back with `Last-Event-ID` gets what it missed from a bounded log, and then what happens. Where something is missing stands an event `gap` (`reason`: `too_old`, `not_written`, `ended_abruptly`, `unknown_id`; `text` for people), whatever the filter. All filters that are given must hold. A comment comes every 15 s. Who does not read is disconnected, and may come back.',
    tags: ['operations'],
    parameters: [
      {
        name: 'type',
        in: 'query',
        description: 'Types or groups of them; a list with commas, or several parameters.',
        explode: false,
        schema: { type: 'array', items: { type: 'string', enum: [...EVENT_TYPES, ...EVENT_GROUPS] } },
      },
      text('host', 'Events of captures whose host starts with the value or is a subdomain of it, as by-host has it.'),
      text('batch', 'Events of one batch and of its captures.'),
      {
        name: 'lastEventId',
        in: 'query',
        description: 'The same as the header, which is preferred to it; 0 is the beginning of the log.',
        schema: lastEventId,
      },
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The id of the last event that was seen.',
        schema: lastEventId,
      },
    ],
    responses: {
      200: response('The events, until one side ends the connection.', {
        'text/event-stream': { schema: { type: 'string' } },
      }),
      ...failures('invalid_request', 'shutting_down', ...EVERYWHERE),
    },
  };
}
