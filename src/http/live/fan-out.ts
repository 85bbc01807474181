import type { EventFeed } from '../../feed/event-feed.ts';
import { type EventFilter, eventPredicate, filterKey } from '../../feed/event-filter.ts';
import type { LoggedEvent } from '../../storage/ports/event-log.ts';
import { frameOf, keepAliveFrame } from './frames.ts';

export interface FanOutOptions {
  /** Maximum number of unread bytes of a subscriber: above it, the subscriber is disconnected at the next event. */
  readonly bufferBytes: number;
  readonly keepAliveMs: number;
}

/** The connection of a subscriber. */
interface Sink {
  readonly writableLength: number;
  write(bytes: Uint8Array): unknown;
  cork(): void;
  uncork(): void;
}

export interface Subscriber {
  readonly sink: Sink;
  /** Called when the subscriber does not read. */
  readonly drop: () => void;
  /** Called when there will be no more events. */
  end(): void;
}

/** Sends new events to all subscribers. */
export interface FanOut {
  /** Number of subscribers. */
  readonly size: number;
  /** Adds a subscriber, which receives events from now on. Returns a function that removes it. */
  join(filter: EventFilter, subscriber: Subscriber): () => void;
}

/** Subscribers with the same filter, which are sent the same bytes. */
interface Group {
  readonly lets: (event: LoggedEvent) => boolean;
  readonly members: Set<Subscriber>;
  /** Events that were not yet sent to the group. */
  frames: Buffer[];
}

/**
 * Time for which events are gathered before they are sent, in microseconds for each subscriber. Measured: a write to a
 * socket takes 10 us, whatever its length; with 1,000 subscribers that is more than all other costs of an event.
 */
const GATHER_US_PER_SUBSCRIBER = 10;
const MAX_GATHER_MS = 10;

export function createFanOut(feed: EventFeed, { bufferBytes, keepAliveMs }: FanOutOptions): FanOut {
  const groups = new Map<string, Group>();
  let subscribers = 0;
  let gathering: NodeJS.Timeout | undefined;
  let keepAlive: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;

  function send({ members }: Group, frames: readonly Buffer[]): void {
    // Frames are shared by all groups, joined ones by one group: a single subscriber needs no copy of its own.
    const chunks = members.size === 1 ? frames : [Buffer.concat(frames)];
    for (const { sink, drop } of members) {
      // Checked before the write: one burst of events may itself exceed the limit, which says nothing about the reader.
      if (sink.writableLength > bufferBytes) {
        drop();
        continue;
      }
      sink.cork();
      for (const bytes of chunks) sink.write(bytes);
      sink.uncork();
    }
  }

  function flush(): void {
    clearTimeout(gathering);
    gathering = undefined;
    for (const group of groups.values()) {
      if (group.frames.length === 0) continue;
      const { frames } = group;
      group.frames = [];
      send(group, frames);
    }
  }

  function take(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      let frame: Buffer | undefined;
      for (const group of groups.values()) {
        if (!group.lets(event)) continue;
        frame ??= frameOf(event);
        group.frames.push(frame);
      }
    }
    const wait = Math.min((subscribers * GATHER_US_PER_SUBSCRIBER) / 1000, MAX_GATHER_MS);
    gathering ??= setTimeout(flush, wait);
  }

  function keepAll(): void {
    const frame = keepAliveFrame(feed.newest);
    for (const group of groups.values()) group.frames.push(frame);
    flush();
  }

  function endAll(): void {
    flush();
    for (const group of groups.values()) for (const subscriber of group.members) subscriber.end();
  }

  function rest(): void {
    stopListening?.();
    stopListening = undefined;
    clearTimeout(gathering);
    clearInterval(keepAlive);
    gathering = undefined;
  }

  return {
    get size() {
      return subscribers;
    },
    join(filter, subscriber) {
      const key = filterKey(filter);
      // Gathered events are older than the new subscriber, which has already read them.
      flush();
      const group = groups.get(key) ?? { lets: eventPredicate(filter, feed.factsOf), members: new Set(), frames: [] };
      groups.set(key, group);
      group.members.add(subscriber);
      subscribers += 1;
      if (stopListening === undefined) {
        stopListening = feed.listen({ events: take, end: endAll });
        keepAlive = setInterval(keepAll, keepAliveMs).unref();
      }
      return () => {
        if (!group.members.delete(subscriber)) return;
        subscribers -= 1;
        if (group.members.size === 0) groups.delete(key);
        if (subscribers === 0) rest();
      };
    },
  };
}

/** Returns a fan-out for isolated clients: it delivers only events of this API key. */
export function ownEvents(fanOut: FanOut, key: string): FanOut {
  return {
    get size() {
      return fanOut.size;
    },
    join: (filter, subscriber) => fanOut.join({ ...filter, ofKey: key }, subscriber),
  };
}
