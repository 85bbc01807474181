import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventFeed, FeedPage } from '../../feed/event-feed.ts';
import { type EventFilter, eventPredicate } from '../../feed/event-filter.ts';
import { createLook } from '../../feed/matching-events.ts';
import type { FanOut } from './fan-out.ts';
import { frameOf, welcomeFrame } from './frames.ts';

/** Maximum number of events in each page that is read for a subscriber: a few times what a socket takes at once. */
const PAGE = 50;

export interface Subscription {
  readonly filter: EventFilter;
  /** Id of the event after which the subscription begins; undefined: now. */
  readonly after: number | undefined;
  /** Name under which the subscriber takes turns with reading missed events. */
  readonly owner: string | null;
}

/**
 * Sends events on an answer whose head was sent: missed events at the speed of the reader, then new ones. Resolves when
 * the subscriber has caught up or disconnected.
 */
export async function sendEvents(
  response: ServerResponse,
  { filter, after, owner }: Subscription,
  feed: EventFeed,
  fanOut: FanOut,
): Promise<void> {
  // Written to the socket directly: the framing of ServerResponse would add a buffer for each write.
  const sink = response.socket ?? response;
  const lets = eventPredicate(filter, feed.factsOf);
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

  await Promise.race([closed, feed.started]);
  if (gone) return;
  let cursor = after ?? feed.newest;
  sink.write(welcomeFrame(cursor));
  const look = createLook(lets, (event) => sink.write(frameOf(event)), PAGE);
  /** Writes events until the socket takes no more. Returns whether the subscriber has been sent all there is. */
  const send = (page: FeedPage): boolean => {
    if (gone) return false;
    // Gathered into one write to the socket.
    sink.cork();
    const seen = look.at(page);
    process.nextTick(() => sink.uncork());
    cursor = seen.cursor;
    return seen.live;
  };
  const sendNext = (): boolean | Promise<boolean> => {
    const page = feed.after(cursor, look.size, owner);
    return page instanceof Promise ? page.then(send) : send(page);
  };
  while (!gone && !feed.ended) {
    const sent = sendNext();
    const isLive = sent instanceof Promise ? await sent : sent;
    // Nothing more is read, and no page kept, for a subscriber that does not read.
    if (sink.writableNeedDrain) await drained();
    else if (isLive) {
      leave = fanOut.join(filter, {
        sink,
        drop() {
          leave();
          sink.destroy();
        },
        end: () => response.end(),
      });
      return;
    } else await nextTurn();
  }
  if (!gone) response.end();
}
