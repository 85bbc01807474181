import { type Collection, type Db, type FindCursor, MongoServerError } from 'mongodb';
import type { LoggedEvent } from '../event-log.ts';

/**
 * Events that were written together, as one link of a chain: `prev` names the link before, and is unique. So of several
 * processes that append at once one succeeds, and the others see that they do not know the end yet: the log has one
 * order for all, no link appears before the one before it, and nobody counts.
 */
export interface EventsDocument {
  /** The id of its last event: grows along the chain. */
  readonly _id: number;
  /** The `_id` of the link before. */
  readonly prev: number;
  /** The process that wrote it. */
  readonly owner: string;
  readonly events: readonly LoggedEvent[];
}

/** Some 100,000 events. The collection is capped: the oldest go by themselves. */
const CAPPED_BYTES = 128 * 1024 * 1024;
const DUPLICATE_KEY = 11_000;
const NAMESPACE_EXISTS = 48;
/** How long the server waits for something new before it says that there is nothing; less than a socket may be silent. */
const AWAIT_MS = 4000;

/** Waits for no fsync of its own: that is for results. */
const OPTIONS = { readConcern: { level: 'majority' }, writeConcern: { w: 'majority', journal: false } } as const;

/** The collection, made when it is not there. It is never empty: the end of an empty one cannot be waited at. */
export async function openEventCollection(db: Db, bytes = CAPPED_BYTES): Promise<Collection<EventsDocument>> {
  await db.createCollection('events', { capped: true, size: bytes }).catch((error: unknown) => {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
  });
  const collection = db.collection<EventsDocument>('events', OPTIONS);
  await collection.createIndex({ prev: 1 }, { name: 'by_prev', unique: true });
  if ((await newestLink(collection)) === null) await addLink(collection, { _id: 1, prev: 0, owner: '', events: [] });
  return collection;
}

/** False when the chain does not end where the link says any more. */
export async function addLink(collection: Collection<EventsDocument>, link: EventsDocument): Promise<boolean> {
  try {
    await collection.insertOne(link);
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false;
    throw error;
  }
}

export function newestLink(collection: Collection<EventsDocument>): Promise<EventsDocument | null> {
  return collection.findOne({}, { sort: { _id: -1 } });
}

/** Links behind one, in their order. */
export function linksAfter(collection: Collection<EventsDocument>, id: number): FindCursor<EventsDocument> {
  return collection.find({ _id: { $gt: id } }, { sort: { _id: 1 }, batchSize: 50 });
}

/** The same, and then those that are added. */
export function awaitLinksAfter(collection: Collection<EventsDocument>, id: number): FindCursor<EventsDocument> {
  return collection.find({ _id: { $gt: id } }, { tailable: true, awaitData: true, maxAwaitTimeMS: AWAIT_MS });
}
