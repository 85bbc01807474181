import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { EVENT_NAMES } from '../../capture/events.ts';
import { parseOrRefuse } from '../../capture/validate.ts';
import { callerOf } from '../keys/callers.ts';
import { beginEvents, takePlace } from '../live/begin-events.ts';
import { sendEvents } from '../live/subscription.ts';
import { text } from '../openapi/content.ts';
import { eventConditions, hostPrefix, integerText } from '../request/parameters.ts';
import { route } from '../route.ts';
import type { HttpContext } from '../state.ts';

const EVENT_ID = 'must be the id of an event';
const eventId = integerText(z.int({ error: EVENT_ID }).min(0, { error: EVENT_ID }), EVENT_ID);

const LastEventIdHeader = z.object({
  'Last-Event-ID': eventId
    .optional()
    .meta({ type: 'integer', minimum: 0, description: 'The id of the last event that was seen.' }),
});

/** Streams events as they happen. */
export const getEvents = route({
  method: 'GET',
  path: '/events',
  operationId: 'subscribe',
  summary: 'Live events, as Server-Sent Events.',
  description:
    'Server-Sent Events. Each has an `id` that grows, its type as `event`, and as `data` a JSON object with `v` (1), `type` and `at`, besides what its type has: `capture.stored` the `result`, failures the `failure`. Reconnect with `Last-Event-ID` to replay missed events from a bounded log. Where events are missing there is an event `gap` (`reason`: `too_old`, `not_written`, `ended_abruptly`, `unknown_id`; `text` for people), whatever the filter. All filters that are given must hold. A comment comes every 15 s. A subscriber that does not read is disconnected, and may reconnect. At most `--max-subscribers` subscribers are served, of which a named key has a share; further ones are 429.',
  tag: 'operations',
  parameters: {
    type: z
      .array(z.string())
      .transform(eventTypes)
      .optional()
      .meta({
        repeatable: true,
        type: 'array',
        items: { type: 'string', enum: EVENT_NAMES },
        description: 'Event types or groups: a list with commas, or several parameters.',
      }),
    host: hostPrefix.optional().meta({
      description: 'Events of captures whose host starts with the value or is a subdomain of it, as by-host has it.',
    }),
    batch: z
      .string()
      .trim()
      .min(1, { error: 'must not be blank: give the id of a batch' })
      .optional()
      .meta({ description: 'Events of one batch and of its captures.' }),
    ...eventConditions,
    lastEventId: eventId.optional().meta({
      description: 'As the header `Last-Event-ID`, which takes precedence; 0 is the beginning of the log.',
    }),
  },
  headers: LastEventIdHeader,
  answers: {
    200: {
      description: 'The events, until one side ends the connection.',
      content: text('text/event-stream'),
    },
  },
  failures: ['shutting_down', 'too_many_subscribers'],
  handle: async (
    ctx,
    { type: types, host, batch, lastEventId, ...where },
    { service: { feed }, fanOut, subscribers },
  ) => {
    // Reconnecting browsers send both: the header is the current position, the query the first one.
    const after = lastEventIdOf(ctx) ?? lastEventId;
    if (feed.ended) throw new CapstanError('shutting_down');
    takePlace(ctx, subscribers);
    if (!beginEvents(ctx)) return;
    const { owner } = callerOf(ctx);
    await sendEvents(ctx.res, { filter: { types, host, batch, where }, after, owner }, feed, fanOut);
  },
});

function lastEventIdOf(ctx: HttpContext): number | undefined {
  const header = ctx.get('Last-Event-ID').trim();
  return header === '' ? undefined : parseOrRefuse(LastEventIdHeader, { 'Last-Event-ID': header })['Last-Event-ID'];
}

/** Returns the names in lists with commas. */
function eventTypes(given: readonly string[], context: z.RefinementCtx): readonly string[] {
  const names = given.flatMap((list) => list.split(',')).map((name) => name.trim());
  const unknown = names.filter((name) => !EVENT_NAMES.includes(name));
  if (unknown.length > 0) {
    const message = `${unknown.map((name) => JSON.stringify(name)).join(', ')} is not an event type; the types are ${EVENT_NAMES.join(', ')}`;
    context.addIssue({ code: 'custom', message });
  }
  return names;
}
