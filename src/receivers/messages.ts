import { ofKey } from '../capture/client.ts';
import type { DeliveryEvent, MessageFailureCause } from '../capture/events.ts';
import type { NewDelivery, StoredDelivery } from '../storage/ports/delivery-store.ts';
import { digestNotice, MAX_LINES } from './digest-notice.ts';
import type { EventFields } from './event-fields.ts';
import type { Notice } from './notice.ts';
import { messageId, type Receiver } from './receiver.ts';
import type { Message } from './transport.ts';

/* Messages are made of stored events: one of each, or one of many. */

/** Makes the news of an event, as the JSON that subscribers receive, for people. */
export type NoticeOf = (event: string) => Promise<Notice>;

/** The subject of a message about many events, in place of the type of one. */
export const DIGEST = 'digest';
/** Maximum number of events that a digest shows. */
export const MAX_SHOWN = 50;

/** Reads what an event is about. */
export function factsOf(event: string) {
  const { at = '', id, batch = null, watch = null }: EventFields = JSON.parse(event);
  return { at, id: id ?? null, batch, watch };
}

export function messageOf({ id, event }: StoredDelivery, noticeOf: NoticeOf): Message {
  return { id, body: event, notice: () => noticeOf(event) };
}

/** Returns one message of many events. `more`: the number of events that are left out. */
export function digestOf(id: string, deliveries: readonly StoredDelivery[], more: number, noticeOf: NoticeOf): Message {
  const events = deliveries.map(({ event }) => event);
  const last = factsOf(events.at(-1) ?? '{}').at;
  return {
    id,
    body: JSON.stringify({ v: 1, type: DIGEST, at: last, events: events.map((event) => JSON.parse(event)), more }),
    notice: async () => {
      const notices: Notice[] = [];
      // The others are a number, and need no pictures and links.
      for (const event of events.slice(0, MAX_LINES)) notices.push(await noticeOf(event));
      return digestNotice(notices, more + events.length - notices.length);
    },
  };
}

/** Returns the message about messages that were dropped until a time. */
export function droppedMessage(dropped: number, at: number, receiver: Receiver): Message {
  const sentence = `${dropped} ${dropped === 1 ? 'message was' : 'messages were'} dropped: too many were waiting.`;
  const time = new Date(at).toISOString();
  return {
    id: messageId(receiver.key, `dropped ${time}`),
    body: JSON.stringify({ v: 1, type: 'dropped', at: time, dropped, text: sentence }),
    notice: async () => ({ about: 'Capstan', sentence, isProblem: true, facts: [], links: [], images: [] }),
  };
}

/** The end of a message for its event. */
export type MessageEnd =
  | { readonly isDelivered: true; readonly status: number | null }
  | {
      readonly isDelivered: false;
      readonly cause: MessageFailureCause;
      readonly reason: string;
      readonly status: number | null;
    };

/** The part of an ended message that its last event tells. */
export type EndedMessage = Pick<NewDelivery, 'id' | 'about' | 'apiKeyName' | 'createdAt' | 'event'> & {
  readonly attempts: number;
};

/** Returns the event of the end of a message. */
export function endOf(
  delivery: EndedMessage,
  { name, host }: Pick<Receiver, 'name' | 'host'>,
  end: MessageEnd,
  now: number,
): DeliveryEvent {
  const { id, about, apiKeyName, createdAt, event, attempts } = delivery;
  const { id: capture, batch, watch } = factsOf(event);
  const common = {
    at: new Date(now).toISOString(),
    ...{ message: id, name, receiver: host, about, capture, batch, watch, attempts },
    ...ofKey(apiKeyName),
  };
  if (end.isDelivered) {
    return { type: 'message.delivered', ...common, status: end.status, duration_ms: Math.max(0, now - createdAt) };
  }
  const { cause, reason, status } = end;
  return { type: 'message.failed', ...common, cause, reason, status };
}
