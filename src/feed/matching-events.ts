import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError } from '../capture/errors.ts';
import type { LoggedEvent } from '../storage/ports/event-log.ts';
import type { EventFeed, FeedPage } from './event-feed.ts';

/** Events in each page that is read. */
const PAGE = 200;
/** Time after which other requests have a turn, in milliseconds: the words of one large page take some 10 ms. */
const TURN_MS = 10;
/** Maximum number of characters of the events that are returned together, unless a single one is longer. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export interface Search {
  /** Id of the event after which the search begins. */
  readonly after: number;
  readonly lets: (event: LoggedEvent) => boolean;
  /** Maximum number of events to return. */
  readonly limit: number;
  /** Maximum number of pages to read. @default unlimited */
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
 * Returns what matches of a page. Ends it, as one that is not live, when it has taken long: the caller then lets others
 * have a turn, and goes on after it.
 */
export function matchesOf({ events, cursor, live }: FeedPage, lets: Search['lets']): FeedPage {
  const since = performance.now();
  const matching: LoggedEvent[] = [];
  for (const [at, event] of events.entries()) {
    if (lets(event)) matching.push(event);
    const isLong = at < events.length - 1 && performance.now() - since > TURN_MS;
    if (isLong) return { events: matching, cursor: event.id, live: false };
  }
  return { events: matching, cursor, live };
}

/**
 * Returns the next events that match, oldest first, as soon as there are any. When `signal` is aborted, it returns what
 * was found until then. Rejects with a `CapstanError` when the log cannot be read.
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
  const found = (isAll: boolean): Found => ({ events, upTo, isAll });
  for (let pages = 0; ; ) {
    const reading = feed.read(upTo, PAGE, owner, signal);
    // Not awaited when it is there already: a listener that follows it at once misses no event.
    const whole = reading instanceof Promise ? await reading : reading;
    const page = matchesOf(whole, lets);
    if (page.cursor === whole.cursor) pages += 1;
    for (const event of page.events) {
      if (events.length > 0 && characters + event.body.length > MAX_CHARACTERS) return found(false);
      events.push(event);
      characters += event.body.length;
      upTo = event.id;
      if (events.length === limit) return found(false);
    }
    upTo = Math.max(upTo, page.cursor);
    if (page.live && (events.length > 0 || until.aborted)) return found(true);
    if (signal.aborted || pages >= maxPages) return found(page.live);
    // A node of a cluster may receive events that another one has already sent, so a smaller id does not replace a
    // larger.
    if (page.live) upTo = Math.max(upTo, await nextMatch(feed, lets, until));
    // The loop would otherwise hold the event loop while it looks at the events in memory.
    else await nextTurn();
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
