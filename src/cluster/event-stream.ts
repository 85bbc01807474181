import { DiscardPolicy, jetstream, RetentionPolicy, StorageType, type StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { ofKey } from '../capture/client.ts';
import { type EventEntry, gapEntry, type LoggedEvent } from '../storage/ports/event-log.ts';
import type { Link } from './connection.ts';
import { API_TIMEOUT_MS, ensureStream, isCode, manage } from './jetstream-api.ts';
import { BadMessageError, decode, encode, encodeWithin, WrittenEvent } from './messages.ts';

/** Limits of the stream: about 100,000 events, and a week. See also `event-trimmer.ts`. */
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** Ids per millisecond of the age of a stream: more than the events that a stream can store in that time. */
const IDS_PER_MS = 1_000;

/** Error codes of JetStream for a second event with the same key. */
const ALREADY_STORED: readonly number[] = [10071, 10164];

interface EventStreamState {
  /** Added to a sequence number, gives the event's id. */
  readonly base: number;
  readonly first: number;
  readonly last: number;
}

/** A republished event. */
export interface Republished {
  readonly sequence: number;
  readonly event: EventEntry;
}

/**
 * The stream of events of a cluster. JetStream numbers the events; an id is the sequence number after the time at which
 * the stream was created, so ids also increase when the stream was lost and created again. Methods reject with an
 * `AwayError` while NATS is away.
 */
export class EventStream {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  async ensure(): Promise<void> {
    const { events, allEvents, logged } = this.#link.subjects;
    await ensureStream(this.#link, {
      name: events,
      subjects: [allEvents],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_bytes: MAX_BYTES,
      max_age: nanos(MAX_AGE_MS),
      allow_direct: true,
      republish: { src: allEvents, dest: logged },
    });
  }

  async state(): Promise<EventStreamState> {
    const { created, state } = await manage<StreamInfo>(this.#link, ({ streams }) =>
      streams.info(this.#link.subjects.events),
    );
    return { base: Date.parse(created) * IDS_PER_MS, first: state.first_seq, last: state.last_seq };
  }

  /** Calls back with each event as it is stored; some may be missing after an outage. */
  follow(onEvent: (republished: Republished) => void): void {
    this.#link.subscribe(this.#link.subjects.logged, ({ data, headers }) => {
      const sequence = Number(headers?.get('Nats-Sequence'));
      if (sequence > 0) onEvent({ sequence, event: decode(WrittenEvent, data).event });
    });
  }

  /** Stores an event, and returns its size in bytes. Does not store an event again whose key is already stored. */
  async publish(writer: string, { n, event }: WrittenEvent): Promise<number> {
    const { eventOf, eventBy } = this.#link.subjects;
    const { key } = event;
    const apiKey = event.api_key_name ?? null;
    // An event that is too large for a message would stop those that follow.
    const body =
      encodeWithin(this.#link.maxPayload, { n, event }) ??
      encode({ n, event: gapEntry('not_written', Date.now(), ofKey(apiKey)) });
    const once = key === undefined ? {} : { expect: { lastSubjectSequence: 0 } };
    const subject = key === undefined ? eventBy(writer, apiKey) : eventOf(key, apiKey);
    try {
      await this.#link.with((connection) =>
        jetstream(connection, { timeout: API_TIMEOUT_MS }).publish(subject, body, { retries: 1, ...once }),
      );
    } catch (error) {
      if (!isCode(error, ALREADY_STORED)) throw error;
    }
    return body.length;
  }

  /** Returns the number of the last stored event of a writer; 0 when there is none. Events with keys do not count. */
  async lastBy(writer: string): Promise<number> {
    const { events, eventsBy } = this.#link.subjects;
    const query = { last_by_subj: eventsBy(writer) };
    const message = await manage(this.#link, ({ streams }) => streams.getMessage(events, query));
    return message === null ? 0 : decode(WrittenEvent, message.data).n;
  }

  /** Returns the sequence number of the first event at or after one; undefined when there is none. */
  async next(sequence: number): Promise<number | undefined> {
    const { events, allEvents } = this.#link.subjects;
    const query = { seq: sequence, next_by_subj: allEvents };
    return (await manage(this.#link, ({ direct }) => direct.getMessage(events, query)))?.seq;
  }

  /** Returns the events with these sequence numbers; those that are missing are left out. */
  async read(first: number, last: number, base: number): Promise<readonly LoggedEvent[]> {
    const sequences = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    return manage(this.#link, async ({ direct }) => {
      const messages = await Promise.all(
        sequences.map((seq) => direct.getMessage(this.#link.subjects.events, { seq })),
      );
      return messages.flatMap((message) =>
        message === null ? [] : eventsIn(message.data).map((event) => ({ id: base + message.seq, ...event })),
      );
    });
  }
}

/** Returns the event of a message; none if the message cannot be read, so that it does not block the ones after it. */
function eventsIn(body: Uint8Array): readonly EventEntry[] {
  try {
    return [decode(WrittenEvent, body).event];
  } catch (error) {
    if (error instanceof BadMessageError) return [];
    throw error;
  }
}
