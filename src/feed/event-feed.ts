import { firstValueFrom, fromEvent, map, merge, type Observable } from 'rxjs';
import { ofKey } from '../capture/client.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CapstanEvent, Unsent, WatchEvent } from '../capture/events.ts';
import { createWorkInTurn } from '../fairness/work-in-turn.ts';
import {
  type EventEntry,
  type EventLog,
  type GapReason,
  gapEntry,
  type LoggedEvent,
} from '../storage/ports/event-log.ts';
import { eventBody } from './event-body.ts';
import { createFactsReader, type FactsOf } from './event-facts.ts';
import { createRecentEvents, type RecentEvents } from './recent-events.ts';

/** Holds about a minute of events of a busy service. Without a database, only these can be replayed. */
const RECENT = { events: 10_000, characters: 8 * 1024 * 1024 } as const;

/** Pages read from the log at once. More would keep the database from storing captures meanwhile. */
const MAX_READS = 2;

/** A listener for live events. */
interface FeedListener {
  /** Called in the order of event ids. */
  events(events: readonly LoggedEvent[]): void;
  /** Called once when the feed ends. */
  end(): void;
}

/** A page of the events that follow an id. */
export interface FeedPage {
  readonly events: readonly LoggedEvent[];
  /** Id after which the next page starts: that of the last event, or a later one when the page is empty. */
  readonly cursor: number;
  /** True when this page is the last: a listener that subscribes synchronously after reading it misses no event. */
  readonly live: boolean;
}

/** The service's events with their ids, for subscribers that may reconnect. */
export interface EventFeed {
  /** Resolves when the log has started. Before that, `newest` is not known. */
  readonly started: Promise<void>;
  /** The id of the newest event. */
  readonly newest: number;
  readonly ended: boolean;
  /** Returns a function that unsubscribes. */
  listen(listener: FeedListener): () => void;
  /**
   * Returns at most `limit` events that follow an id, including gaps. A page that is returned synchronously may be
   * `live`; a page that is read from the log never is. Never rejects: events that cannot be read become a gap. `owner`:
   * owners take turns with reading from the log.
   */
  after(cursor: number, limit: number, owner?: string | null): FeedPage | Promise<FeedPage>;
  /**
   * As `after`, for readers to whom a gap is final: rejects with a `CapstanError` when the log cannot be read now.
   * Returns nothing for an id that this node does not know yet: another node of the cluster may have given it.
   * `signal`: the reader no longer waits for its turn.
   */
  read(cursor: number, limit: number, owner?: string | null, signal?: AbortSignal): FeedPage | Promise<FeedPage>;
  /** Reads what an event says, for filters. */
  readonly factsOf: FactsOf;
  /** Resolves when every event so far can be read after the process was killed. Rejects when that fails now. */
  publishedStored(): Promise<void>;
}

/** The feed as its owner has it. */
export interface OwnFeed extends EventFeed {
  /** As `publishedStored`, with the events that are not sent yet, because NATS is away. */
  allStored(): Promise<void>;
  /** Ends the feed for all listeners, and writes pending events to the log. */
  close(): Promise<void>;
}

/** Opens the feed, even when the log cannot be read. */
export function openEventFeed(events$: Observable<CapstanEvent & Unsent>, log: EventLog): OwnFeed {
  const listeners = new Set<FeedListener>();
  const reads = createWorkInTurn(MAX_READS);
  const early: LoggedEvent[] = [];
  let recent: RecentEvents = createRecentEvents(0, RECENT);
  let isStarted = false;
  let ended = false;

  const starting = log.start((events) => {
    if (isStarted) recent.add(events);
    else early.push(...events);
    for (const listener of listeners) listener.events(events);
  });
  const started = starting.then((startAfter) => {
    recent = createRecentEvents(startAfter, RECENT);
    recent.add(early.splice(0));
    isStarted = true;
  });
  const subscription = events$.subscribe((event) => log.append(entryOf(event)));

  const gapPage = (reason: GapReason, id: number): FeedPage => ({
    events: [{ id, ...gapEntry(reason, Date.now()) }],
    cursor: id,
    live: false,
  });

  async function readLog(cursor: number, limit: number): Promise<FeedPage> {
    // Events up to the floor are only in the log, or lost. Read the floor first: it may rise during the query.
    const { floor } = recent;
    const events = await log.read(cursor, limit);
    return { events, cursor: events.at(-1)?.id ?? floor, live: false };
  }

  function read(
    cursor: number,
    limit: number,
    owner: string | null = null,
    signal?: AbortSignal,
  ): FeedPage | Promise<FeedPage> {
    if (cursor >= recent.newest) return { events: [], cursor, live: true };
    if (cursor < recent.floor) {
      const page$ = reads.run(owner, () => readLog(cursor, limit));
      return firstValueFrom(signal === undefined ? page$ : merge(page$, whenAborted(signal)));
    }
    const events = recent.after(cursor, limit);
    const reached = events.at(-1)?.id ?? cursor;
    return { events, cursor: reached, live: reached >= recent.newest };
  }

  return {
    started,
    get newest() {
      return recent.newest;
    },
    get ended() {
      return ended;
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    after(cursor, limit, owner) {
      if (cursor > recent.newest) return gapPage('unknown_id', recent.newest);
      const { floor } = recent;
      const page = read(cursor, limit, owner);
      return page instanceof Promise ? page.catch(() => gapPage('too_old', floor)) : page;
    },
    read,
    factsOf: createFactsReader(),
    publishedStored: () => log.publishedStored(),
    allStored: () => log.allStored(),
    async close() {
      if (ended) return;
      subscription.unsubscribe();
      await log.close();
      ended = true;
      for (const listener of listeners) listener.end();
      listeners.clear();
    },
  };
}

/** Errors when the signal is aborted. Unsubscribing from a read that waits for its turn takes it out of the queue. */
function whenAborted(signal: AbortSignal): Observable<never> {
  return fromEvent(signal, 'abort').pipe(
    map(() => {
      throw new CapstanError('cluster_unavailable', 'The event log could not be read in time.');
    }),
  );
}

export function entryOf(event: CapstanEvent & Unsent): EventEntry {
  return {
    type: event.type,
    host: 'host' in event ? event.host : null,
    batch: 'batch' in event ? event.batch : null,
    ...('api_key_name' in event && ofKey(event.api_key_name)),
    body: eventBody(event),
    ...(event.words !== undefined && { words: event.words }),
    ...(event.to !== undefined && { to: event.to }),
    ...keyOf(event),
  };
}

/** Returns a key for events that several processes may report: the end of a capture with a record, a run of a watch. */
function keyOf(event: CapstanEvent): Pick<EventEntry, 'key'> {
  if (isOfRecord(event)) return { key: `ended-${event.id}` };
  if (!isOfWatch(event)) return {};
  return { key: `${event.type.replace('.', '-')}-${event.watch}-${Date.parse(event.run.due)}` };
}

function isOfWatch(event: CapstanEvent): event is WatchEvent {
  return event.type.startsWith('watch.');
}

/** Whether an event is the end of a capture that has a record: the worker and the api node may both report it. */
function isOfRecord(event: CapstanEvent): event is CapstanEvent & { readonly id: number } {
  const ends = event.type === 'capture.stored' || event.type === 'capture.failed' || event.type === 'capture.timed_out';
  return ends && event.result !== null;
}
