import { z } from 'zod';
import type { CapstanEvent } from '../../capture/domain.ts';
import type { EventFilter } from '../../feed/event-filter.ts';
import { parseOrRefuse } from '../problems.ts';
import { parseQuery } from './queries.ts';

type EventType = CapstanEvent['type'];

/** Every type that a subscriber can be sent, but for `gap`. */
export const EVENT_TYPES = Object.keys({
  'capture.queued': true,
  'capture.started': true,
  'capture.stored': true,
  'capture.failed': true,
  'capture.timed_out': true,
  'capture.cancelled': true,
  'capture.rejected': true,
  'capture.reused': true,
  'batch.accepted': true,
  'batch.progress': true,
  'batch.completed': true,
  'browser.launched': true,
  'browser.retired': true,
  'browser.crashed': true,
  'pressure.changed': true,
  'webhook.delivered': true,
  'webhook.failed': true,
} satisfies Record<EventType, true>);

/** `capture.*`: every type of a group. */
export const EVENT_GROUPS = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))];

const EVENT_NAMES: readonly string[] = [...EVENT_TYPES, ...EVENT_GROUPS];

const lastEventId = z
  .string()
  .regex(/^\d{1,16}$/, { error: 'must be the id of an event', abort: true })
  .transform(Number)
  .refine(Number.isSafeInteger, { error: 'must be the id of an event' });

const EventsQuery = z.object({
  type: z
    .array(z.string())
    .transform((given, context) => {
      const names = given.flatMap((list) => list.split(',')).map((name) => name.trim());
      const unknown = names.filter((name) => !EVENT_NAMES.includes(name));
      if (unknown.length > 0) {
        const message = `${unknown.map((name) => JSON.stringify(name)).join(', ')} is no type of event; there are ${EVENT_NAMES.join(', ')}`;
        context.addIssue({ code: 'custom', message });
      }
      return names.map((name) => name.replace(/\*$/, ''));
    })
    .optional(),
  host: z.string().trim().min(1, { error: 'must not be blank: give a host such as example.com' }).optional(),
  batch: z.string().trim().min(1, { error: 'must not be blank: give the id of a batch' }).optional(),
  lastEventId: lastEventId.optional(),
});

const LastEventIdHeader = z.object({ 'Last-Event-ID': lastEventId });

/** What is asked for, and the id behind which it begins; undefined: now. */
export function parseSubscription(
  querystring: string,
  lastEventIdHeader: string,
): { readonly filter: EventFilter; readonly after: number | undefined } {
  const { type: types, host, batch, lastEventId: given } = parseQuery(EventsQuery, querystring, ['type']);
  // The header is where the client is now, the query where it once began: browsers come back with both.
  const header = lastEventIdHeader.trim();
  const after = header === '' ? given : parseOrRefuse(LastEventIdHeader, { 'Last-Event-ID': header })['Last-Event-ID'];
  return { filter: { types, host, batch }, after };
}
