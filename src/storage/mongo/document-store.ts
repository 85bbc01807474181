import { randomUUID } from 'node:crypto';
import { Binary, type Collection, type Db, type Filter } from 'mongodb';
import { withLease } from '../documents/lease.ts';
import {
  amountOf,
  bytesOf,
  type Condition,
  checkRoom,
  type Document,
  type DocumentStore,
  type StoredDocument,
  TABLES,
  type Table,
  type Usage,
} from '../ports/document-store.ts';
import { insertNew } from './collections.ts';
import type { Ask } from './connection.ts';
import { isDuplicateKey } from './duplicate-key.ts';

interface MongoDocument extends Omit<Document, 'id' | 'data' | 'besides'> {
  readonly _id: string;
  readonly revision: string;
  readonly bytes: number;
  /** Left out without data. */
  readonly data_bytes?: number | undefined;
  readonly data?: Binary | undefined;
}

const OPERATORS = { '=': '$eq', '<': '$lt', '<=': '$lte', '>': '$gt', in: '$in', 'not in': '$nin' } as const;

/** Creates the indexes. */
export async function prepareDocuments(db: Db): Promise<void> {
  for (const table of TABLES) {
    await db.collection(table).createIndexes([
      // Both end with the fields of conditions and the bytes, so that sorting, filtering and adding up read no documents.
      { name: 'by_owner', key: { of: 1, at: 1, kind: 1, bytes: 1, data_bytes: 1 } },
      { name: 'by_kind', key: { kind: 1, at: 1, due: 1, of: 1, bytes: 1, data_bytes: 1 } },
      { name: 'by_due', key: { due: 1, kind: 1, of: 1 } },
    ]);
  }
  await db.collection('watches').createIndexes([
    { name: 'by_owner_and_id', key: { of: 1, _id: 1 } },
    { name: 'by_at', key: { at: 1 } },
  ]);
}

export function mongoDocuments(db: Db, ask: Ask): DocumentStore {
  const collection = (table: Table): Collection<MongoDocument> => db.collection(table);
  // Without a condition MongoDB would read every document, and not an index.
  const count = (table: Table, where: readonly Condition[]) =>
    collection(table).countDocuments(filterOf(where), where.length === 0 ? { hint: '_id_' } : {});
  const usage = async (table: Table, where: readonly Condition[], owner: string): Promise<Usage> => {
    const found = await collection(table)
      .aggregate<{ readonly _id: boolean; readonly count: number; readonly bytes: number }>(
        [
          { $match: filterOf(where) },
          {
            $group: {
              _id: { $eq: ['$of', owner] },
              count: { $sum: 1 },
              bytes: { $sum: { $add: ['$bytes', { $ifNull: ['$data_bytes', 0] }] } },
            },
          },
        ],
        { hint: where.some(([field]) => field === 'of') ? 'by_owner' : 'by_kind' },
      )
      .toArray();
    const { count = 0, bytes = 0 } = found.find(({ _id: isOwn }) => isOwn) ?? {};
    const others = found.find(({ _id: isOwn }) => !isOwn) ?? { count: 0, bytes: 0 };
    return { all: { count: count + others.count, bytes: bytes + others.bytes }, own: { count, bytes } };
  };
  const documents: DocumentStore = {
    now: () =>
      ask(async () => {
        const { localTime } = await db.command({ hello: 1 });
        return Number(localTime);
      }),
    list: (table, where, order = {}) =>
      ask(async () => {
        const { by = 'id', isDescending = false, limit = 0, skip = 0, isBrief = false, maxBytes = Infinity } = order;
        const direction = isDescending ? -1 : 1;
        const cursor = collection(table)
          .find(filterOf(where), { projection: { data: 0, ...(isBrief && { body: 0 }) } })
          // By one field, so that an index orders them: with _id as well, MongoDB would read and sort all of them.
          .sort({ [by === 'id' ? '_id' : by]: direction })
          .skip(skip)
          .limit(limit);
        const found: StoredDocument[] = [];
        let read = 0;
        for await (const { _id, body = '', bytes, data_bytes = 0, ...others } of cursor) {
          found.push({ id: _id, body, bytes: bytes + data_bytes, ...others });
          read += Buffer.byteLength(body);
          if (read >= maxBytes) break;
        }
        return found;
      }),
    count: (table, where) => ask(() => count(table, where)),
    countKinds: (table, where) =>
      ask(async () => {
        const found = await collection(table)
          .aggregate<{ readonly _id: string; readonly number: number }>([
            { $match: filterOf(where) },
            { $group: { _id: '$kind', number: { $sum: 1 } } },
          ])
          .toArray();
        return new Map(found.map(({ _id: kind, number }) => [kind, number]));
      }),
    data: (table, id) =>
      ask(async () => {
        const found = await collection(table).findOne({ _id: id }, { projection: { data: 1 } });
        return found?.data && Uint8Array.from(found.data.buffer);
      }),
    add: (table, documents) => ask(() => insertNew(collection(table), documents.map(storedOf))),
    usage: (table, where, of) => ask(() => usage(table, where, of)),
    addWithin: (table, document, room) => {
      const work = () =>
        ask(async () => {
          checkRoom(room, await usage(table, room.where, document.of), amountOf(document));
          await collection(table).insertOne(storedOf(document));
        });
      return room.isExact ? oneByOne(work) : work();
    },
    replace: (table, document, revision) =>
      ask(async () => {
        const { _id, ...changed } = storedOf(document);
        if (revision !== undefined) {
          return (await collection(table).updateOne({ _id, revision }, { $set: changed })).matchedCount > 0;
        }
        try {
          await collection(table).insertOne({ _id, ...changed });
          return true;
        } catch (error) {
          if (isDuplicateKey(error)) return false;
          throw error;
        }
      }),
    remove: (table, where) => ask(async () => (await collection(table).deleteMany(filterOf(where))).deletedCount),
  };
  const oneByOne = withLease(documents, 'additions');
  return documents;
}

function storedOf(document: Document): MongoDocument {
  const { id, of, kind, at, due, body, data } = document;
  const additional = data && { data: new Binary(data), data_bytes: data.byteLength };
  return { _id: id, of, kind, at, due, body, revision: randomUUID(), bytes: bytesOf(document), ...additional };
}

function filterOf(where: readonly Condition[]): Filter<MongoDocument> {
  const conditions = where.map(([field, operator, value]) => ({
    [field === 'id' ? '_id' : field]: { [OPERATORS[operator]]: value },
  }));
  return conditions.length === 0 ? {} : { $and: conditions };
}
