import type { ServerResponse } from 'node:http';
import { CapstanError } from '../../capture/errors.ts';
import type { EventFeed } from '../../feed/event-feed.ts';
import { findEvents } from '../../feed/matching-events.ts';
import type { LoggedEvent } from '../../storage/ports/event-log.ts';
import type { QueryRecord, QueryStore } from '../../storage/ports/query-store.ts';
import { frameOf, KEEP_ALIVE_MS, keepAliveFrame, welcomeFrame } from './frames.ts';

/** Events of a stream that are delivered together. */
const PAGE = 50;
/** Time limit for reading the log, in milliseconds. It does not include the time in which nothing happens. */
const READ_MS = 5000;

/** A standing query, and what it is read from. */
export interface Consumed {
  readonly query: QueryRecord;
  readonly lets: (event: LoggedEvent) => boolean;
  readonly feed: EventFeed;
  readonly queries: QueryStore;
  /** Name under which the consumer takes turns with reading the log. */
  readonly owner: string | null;
}

interface DeliveryWanted {
  /** Id of the event after which to continue. */
  readonly after: number;
  /** Id after which nothing was found so far. */
  readonly emptySince: number;
  readonly limit: number;
  /** Time to wait for an event, in milliseconds. */
  readonly waitMs: number;
  /** Aborted when the consumer has disconnected. */
  readonly gone: AbortSignal;
}

export interface Delivery {
  readonly events: readonly LoggedEvent[];
  /** Id of the event after which the next delivery begins, to a consumer that stays connected. */
  readonly upTo: number;
}

/**
 * Finds the next events, and notes that they are delivered. They are kept before they are sent: after a crash of the
 * process they can be delivered again. Rejects with `not_found` when the query was removed.
 */
export async function deliverNext(
  { query: { id }, lets, feed, queries, owner }: Consumed,
  { after, emptySince, limit, waitMs, gone }: DeliveryWanted,
): Promise<Delivery> {
  const within = (ms: number) => AbortSignal.any([gone, AbortSignal.timeout(ms)]);
  const until = waitMs === 0 ? AbortSignal.abort() : within(waitMs);
  const { events, upTo } = await findEvents(feed, { after, lets, limit, until, owner }, within(waitMs + READ_MS));
  if (gone.aborted) throw new CapstanError('cancelled', 'The client disconnected before the answer.');
  const last = events.at(-1);
  if (last === undefined) {
    if (upTo > emptySince) await queries.pass(id, emptySince, upTo);
  } else {
    await feed.publishedStored();
    if (!(await queries.deliver(id, last.id))) throw unknownQuery(id);
  }
  return { events, upTo };
}

/** Sends deliveries on an answer whose head was sent, until one side ends it or the query is removed. */
export async function streamDeliveries(response: ServerResponse, consumed: Consumed): Promise<void> {
  const { query, queries } = consumed;
  const sink = response.socket ?? response;
  const hangUp = new AbortController();
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  void closed.then(() => hangUp.abort());
  const wanted = { limit: PAGE, waitMs: KEEP_ALIVE_MS, gone: hangUp.signal };
  sink.write(welcomeFrame(query.position));
  try {
    for (let after = query.position, emptySince = after; ; ) {
      const { events, upTo } = await deliverNext(consumed, { ...wanted, after, emptySince });
      if (events.length === 0 && (await queries.get(query.id)) === undefined) break;
      sink.cork();
      for (const event of events) sink.write(frameOf(event));
      if (events.length === 0) sink.write(keepAliveFrame(upTo));
      sink.uncork();
      after = upTo;
      emptySince = events.at(-1)?.id ?? emptySince;
      if (sink.writableNeedDrain) {
        await Promise.race([closed, new Promise<void>((resolve) => sink.once('drain', resolve))]);
      }
    }
  } catch (error) {
    // The head was sent: a consumer that connects again is told why.
    if (!(error instanceof CapstanError)) throw error;
  } finally {
    response.end();
  }
}

export function unknownQuery(id: string): CapstanError {
  return new CapstanError('not_found', `There is no standing query with the id ${JSON.stringify(id)}.`);
}
