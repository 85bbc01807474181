import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError } from '../capture/errors.ts';
import type { EventFeed, FeedPage, LoggedEvent } from './event-feed.ts';

/** Events in each page that is read. */
const PAGE = 200;
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
 * Returns the next events that match, oldest first, as soon as there are any. When `signal` is aborted, it returns what was
 * found until then. Rejects with a `CapstanError` when the log cannot be read.
 */
export async function findEvents(
  feed: EventFeed,
  { after, lets, limit, maxPages = Number.POSITIVE_INFINITY, until, owner }: Search,
  signal: AbortSignal,
): Promise<Found> {
  const unlessAborted = untilAborted(signal);
  await unlessAborted(feed.started);
  const events: LoggedEvent[] = [];
  let upTo = after;
  let characters = 0;
  const found = (isAll: boolean): Found => ({ events, upTo, isAll });
  for (let pages = 1; ; pages += 1) {
    const reading = feed.read(upTo, PAGE, owner);
    // Not awaited when it is there already: a listener that follows it at once misses no event.
    const page: FeedPage = reading instanceof Promise ? await unlessAborted(reading) : reading;
    for (const event of page.events) {
      if (lets(event)) {
        if (events.length > 0 && characters + event.body.length > MAX_CHARACTERS) return found(false);
        events.push(event);
        characters += event.body.length;
      }
      upTo = event.id;
      if (events.length === limit) return found(false);
    }
    upTo = Math.max(upTo, page.cursor);
    if (page.live && (events.length > 0 || until.aborted)) return found(true);
    if (signal.aborted || pages >= maxPages) return found(page.live);
    if (page.live) await nextEvent(feed, until);
    // The loop would otherwise hold the event loop while it looks at the events in memory.
    else await nextTurn();
  }
}

/** Resolves when there is an event, or the signal is aborted. Rejects when there will be none. */
function nextEvent(feed: EventFeed, signal: AbortSignal): Promise<void> {
  if (feed.ended) return Promise.reject(new CapstanError('shutting_down'));
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      stop();
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const onAbort = () => settle(resolve);
    const stop = feed.listen({
      events: () => settle(resolve),
      end: () => settle(() => reject(new CapstanError('shutting_down'))),
    });
    signal.addEventListener('abort', onAbort);
  });
}

/** Returns a function that rejects when the signal is aborted before the work is done. */
function untilAborted(signal: AbortSignal): <T>(work: Promise<T>) => Promise<T> {
  return (work) =>
    new Promise((resolve, reject) => {
      const onAbort = () => reject(new CapstanError('cluster_unavailable', 'The event log could not be read in time.'));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
}
