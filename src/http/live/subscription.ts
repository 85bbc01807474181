import type { ServerResponse } from 'node:http';
import type { EventFeed } from '../../feed/event-feed.ts';
import { type EventFilter, eventPredicate } from '../../feed/event-filter.ts';
import type { FanOut } from './fan-out.ts';
import { frameOf, welcomeFrame } from './frames.ts';

/** Events in each page that is replayed to a subscriber. */
const PAGE = 200;
const RETRY_MS = 2000;

export interface Subscription {
  readonly filter: EventFilter;
  /** Id of the event after which the subscription begins; undefined: now. */
  readonly after: number | undefined;
}

/**
 * Sends events on an answer whose head was sent: missed events at the speed of the reader, then new ones. Resolves when
 * the subscriber has caught up or disconnected.
 */
export async function sendEvents(
  response: ServerResponse,
  { filter, after }: Subscription,
  feed: EventFeed,
  fanOut: FanOut,
): Promise<void> {
  // Written to the socket directly: the framing of ServerResponse would add a buffer for each write.
  const sink = response.socket ?? response;
  const lets = eventPredicate(filter);
  let gone = false;
  let leave = () => {};
  const closed = new Promise<void>((resolve) =>
    response.once('close', () => {
      gone = true;
      leave();
      resolve();
    }),
  );
  const drained = () => Promise.race([closed, new Promise<void>((resolve) => sink.once('drain', resolve))]);

  let cursor = after ?? feed.newest;
  sink.write(welcomeFrame(RETRY_MS, cursor));
  while (!gone && !feed.ended) {
    const found = feed.after(cursor, PAGE);
    const page = found instanceof Promise ? await found : found;
    if (gone) return;
    cursor = page.cursor;
    const frames = page.events.filter(lets).map(frameOf);
    if (frames.length > 0 && !sink.write(Buffer.concat(frames))) await drained();
    else if (page.live) {
      leave = fanOut.join(filter, {
        sink,
        drop() {
          leave();
          sink.destroy();
        },
        end: () => response.end(),
      });
      return;
    }
  }
  if (!gone) response.end();
}
