import { type Collection, type Db, type FindCursor, MongoServerError } from 'mongodb';
import type { LoggedEvent } from '../event-log.ts';
import { isDuplicateKey } from './duplicate-key.ts';

/**
 * Events that were written together, as one link of a chain: `prev` names the previous link and is unique. When several
 * processes append at once, one succeeds and the inserts of the others fail, because they do not know the end yet. So
 * the log has one order for all processes, no link appears before its predecessor, and no counter is needed.
 */
export interface EventsDocument {
  /** The id of its last event; increases along the chain. */
  readonly _id: number;
  /** The `_id` of the previous link. */
  readonly prev: number;
  /** The process that wrote it. */
  readonly owner: string;
  readonly events: readonly LoggedEvent[];
}

/** About 100,000 events. The collection is capped: the server removes the oldest. */
const CAPPED_BYTES = 128 * 1024 * 1024;
const NAMESPACE_EXISTS = 48;
/** Time that the server waits for new links before it answers with none; less than the socket timeout. */
const AWAIT_MS = 4000;

/** Writes of events do not wait for an fsync, unlike those of results. */
const OPTIONS = { readConcern: { level: 'majority' }, writeConcern: { w: 'majority', journal: false } } as const;

/**
 * Opens the collection. Creates it when it has no link, which is added last: a tailable cursor needs a document, and so
 * the collection is never empty.
 */
export async function openEventCollection(db: Db, bytes = CAPPED_BYTES): Promise<Collection<EventsDocument>> {
  const collection = db.collection<EventsDocument>('events', OPTIONS);
  if ((await newestLink(collection)) !== null) return collection;
  await db.createCollection('events', { capped: true, size: bytes }).catch((error: unknown) => {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
  });
  await collection.createIndex({ prev: 1 }, { name: 'by_prev', unique: true });
  await addLink(collection, { _id: 1, prev: 0, owner: '', events: [] });
  return collection;
}

/** Appends a link; false when `prev` is no longer the end of the chain. */
export async function addLink(collection: Collection<EventsDocument>, link: EventsDocument): Promise<boolean> {
  try {
    await collection.insertOne(link);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

export function newestLink(collection: Collection<EventsDocument>): Promise<EventsDocument | null> {
  return collection.findOne({}, { sort: { _id: -1 } });
}

/** Returns the links after a given one, in order. */
export function linksAfter(collection: Collection<EventsDocument>, id: number): FindCursor<EventsDocument> {
  return collection.find({ _id: { $gt: id } }, { sort: { _id: 1 }, batchSize: 50 });
}

/** Returns the links after a given one, and then new ones as they are added. */
export function awaitLinksAfter(collection: Collection<EventsDocument>, id: number): FindCursor<EventsDocument> {
  return collection.find({ _id: { $gt: id } }, { tailable: true, awaitData: true, maxAwaitTimeMS: AWAIT_MS });
}
