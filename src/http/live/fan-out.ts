import type { EventFeed, LoggedEvent } from '../../feed/event-feed.ts';
import { type EventFilter, eventPredicate, filterKey } from '../../feed/event-filter.ts';
import { frameOf, keepAliveFrame } from './frames.ts';

export interface FanOutOptions {
  /** Bytes that may lie ready for a subscriber when there is more to send; with more, it is dropped. */
  readonly bufferBytes: number;
  readonly keepAliveMs: number;
}

/** Where a subscriber's bytes go. */
export interface Sink {
  readonly writableLength: number;
  write(bytes: Uint8Array): unknown;
}

export interface Subscriber {
  readonly sink: Sink;
  /** It does not read. */
  drop(): void;
  /** There will be no more events. */
  end(): void;
}

/** Sends what happens to everyone who is there. */
export interface FanOut {
  /** From now on; what was sent before is the subscriber's own business. Returns what ends it. */
  join(filter: EventFilter, subscriber: Subscriber): () => void;
}

/** Subscribers whose filters let the same through get the same bytes. */
interface Group {
  readonly lets: (event: LoggedEvent) => boolean;
  readonly members: Set<Subscriber>;
  /** What has happened since it was last sent to. */
  frames: Buffer[];
}

/**
 * A write to a socket costs 10 us of the kernel's time, whatever its length: for a thousand subscribers, more than all
 * else that an event costs. So events are gathered for as long as it takes to be worth it; few subscribers wait for
 * nothing.
 */
const GATHER_US_PER_SUBSCRIBER = 10;
const MAX_GATHER_MS = 10;

export function createFanOut(feed: EventFeed, { bufferBytes, keepAliveMs }: FanOutOptions): FanOut {
  const groups = new Map<string, Group>();
  let subscribers = 0;
  let gathering: NodeJS.Timeout | undefined;
  let keepAlive: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;

  function send(group: Group, bytes: Buffer): void {
    for (const subscriber of group.members) {
      // What happened just now says nothing of how it reads: a batch can be refused at once, in megabytes of events.
      if (subscriber.sink.writableLength > bufferBytes) subscriber.drop();
      else subscriber.sink.write(bytes);
    }
  }

  function flush(): void {
    clearTimeout(gathering);
    gathering = undefined;
    for (const group of groups.values()) {
      if (group.frames.length === 0) continue;
      const bytes = Buffer.concat(group.frames);
      group.frames = [];
      send(group, bytes);
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
    join(filter, subscriber) {
      const key = filterKey(filter);
      // What lies gathered happened before, and the newcomer has it.
      flush();
      const group = groups.get(key) ?? { lets: eventPredicate(filter), members: new Set(), frames: [] };
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
