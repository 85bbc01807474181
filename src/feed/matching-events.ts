import { setImmediate as nextTurn } from 'node:timers/promises';
import { beginTurn } from '../capture/basics/event-loop-turns.ts';
import { CapstanError } from '../capture/errors.ts';
import type { LoggedEvent } from '../storage/ports/event-log.ts';
import type { EventFeed, FeedPage } from './event-feed.ts';

/** Maximum number of events in each page that is read. */
const PAGE = 200;
/** Maximum number of characters of the events that are returned together, unless a single one is longer. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export interface Search {
  /** Id of the event after which the search begins. */
  readonly after: number;
  readonly lets: (event: LoggedEvent) => boolean;
  /** Maximum number of events to return. */
  readonly limit: number;
  /** Maximum number of pages to read; a smaller page counts as its share of one. @default unlimited */
  readonly maxPages?: number;
  /** While it is not aborted, the search waits for events when no past one matches. */
  readonly until: AbortSignal;
  /** Name under which it takes turns with reading past events. */
  readonly owner: string | null;
}

export interface Found {
  readonly events: readonly LoggedEvent[];
  /** Events up to this id were looked at. */
  readonly upTo: number;
  /** Whether every event of the log was looked at. */
  readonly isAll: boolean;
}

/**
 * Looks at pages of events, for at most one turn of the event loop each. `at` passes the matching events of a page to
 * `take`, and returns the id that it reached. It stops early, and is then not live, when `take` returns false or the turn
 * is over. The rest of the page is read again, because there may be too many readers to keep it for each. `size`: number
 * of events to read next, at most `max`.
 */
export function createLook(lets: Search['lets'], take: (event: LoggedEvent) => boolean, max: number) {
  let size = max;
  return {
    get size() {
      return size;
    },
    at({ events, cursor, live }: FeedPage): Pick<FeedPage, 'cursor' | 'live'> {
      const isOver = beginTurn();
      for (const [at, event] of events.entries()) {
        const isWanted = !lets(event) || take(event);
        if (isWanted && (at === events.length - 1 || !isOver())) continue;
        size = at + 1;
        return { cursor: event.id, live: false };
      }
      size = Math.min(2 * size, max);
      return { cursor, live };
    },
  };
}

/**
 * Returns the next events that match, oldest first, as soon as there are any. When `signal` is aborted, it returns what
 * was found until then, if it has looked at any event. Rejects with a `CapstanError` when the log cannot be read.
 */
export async function findEvents(
  feed: EventFeed,
  { after, lets, limit, maxPages = Number.POSITIVE_INFINITY, until, owner }: Search,
  signal: AbortSignal,
): Promise<Found> {
  await startOf(feed, signal);
  const events: LoggedEvent[] = [];
  let upTo = after;
  let characters = 0;
  let isFull = false;
  const look = createLook(
    lets,
    (event) => {
      const fits = events.length === 0 || characters + event.body.length <= MAX_CHARACTERS;
      if (fits) {
        events.push(event);
        characters += event.body.length;
        upTo = event.id;
      }
      isFull = !fits || events.length === limit;
      return !isFull;
    },
    PAGE,
  );
  const found = (isAll: boolean): Found => ({ events, upTo, isAll });
  const endInTime = (error: unknown): undefined => {
    if (!signal.aborted || upTo === after) throw error;
  };
  for (let pages = 0; ; ) {
    const { size } = look;
    const reading = feed.read(upTo, size, owner, signal);
    // Not awaited when it is there already: a listener that follows it at once misses no event.
    const page = reading instanceof Promise ? await reading.catch(endInTime) : reading;
    if (page === undefined) return found(false);
    const { cursor, live } = look.at(page);
    if (isFull) return found(false);
    upTo = Math.max(upTo, cursor);
    pages += Math.min(size, look.size) / PAGE;
    if (live && (events.length > 0 || until.aborted)) return found(true);
    if (signal.aborted || pages >= maxPages) return found(live);
    // A node of a cluster may receive events that another one has already sent, so a smaller id does not replace a
    // larger.
    if (live) upTo = Math.max(upTo, await nextMatch(feed, lets, until));
    // The loop would otherwise hold the event loop while it looks at the events in memory.
    else {
      await nextTurn();
      if (signal.aborted) return found(false);
    }
  }
}

/**
 * Resolves when an event matches, or the signal is aborted, with the id of the last event before it; 0 when there was
 * none. Rejects when there will be no more events.
 */
function nextMatch(feed: EventFeed, lets: Search['lets'], signal: AbortSignal): Promise<number> {
  if (feed.ended) return Promise.reject(new CapstanError('shutting_down'));
  return new Promise((resolve, reject) => {
    let passed = 0;
    const settle = (end: () => void) => {
      stop();
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const onAbort = () => settle(() => resolve(passed));
    const stop = feed.listen({
      events: (events) => {
        if (events.some(lets)) onAbort();
        else passed = events.at(-1)?.id ?? passed;
      },
      end: () => settle(() => reject(new CapstanError('shutting_down'))),
    });
    signal.addEventListener('abort', onAbort);
  });
}

/** Resolves when the feed has started, which it does in a cluster once NATS was reached. */
export function startOf(feed: EventFeed, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new CapstanError('cluster_unavailable'));
    signal.addEventListener('abort', refuse, { once: true });
    feed.started.then(resolve, reject).finally(() => signal.removeEventListener('abort', refuse));
  });
}
