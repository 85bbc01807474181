import { randomUUID } from 'node:crypto';
import { Binary, type Collection, type Db, type Filter } from 'mongodb';
import type { Amount } from '../../capture/stored-limits.ts';
import { labelsField } from '../documents/find-and-change.ts';
import { withLock } from '../documents/lock.ts';
import { amountOf, bytesOf, LIMITS, requireRoom } from '../documents/room.ts';
import type { Condition, Document, DocumentStore, Order, StoredDocument } from '../ports/document-store.ts';
import { fieldsIn, SCHEMAS, type Table } from '../ports/document-tables.ts';
import { insertNew } from './collections.ts';
import type { Ask } from './connection.ts';
import { isDuplicateKey } from './failure.ts';

/** A document in MongoDB: its id as `_id`, and the fields of its table. */
interface MongoDocument {
  readonly _id: string;
  readonly revision: string;
  /** Left out of brief lists. */
  readonly body?: string;
  readonly bytes: number;
  /** Left out without data. */
  readonly dataBytes?: number | undefined;
  readonly data?: Binary | undefined;
}

const OPERATORS = { '=': '$eq', '<': '$lt', '<=': '$lte', '>': '$gt', in: '$in', 'not in': '$nin' } as const;

/** Creates the indexes. */
export async function prepareDocuments(db: Db): Promise<void> {
  for (const [table, { indexes }] of Object.entries(SCHEMAS)) {
    if (indexes.length > 0) await db.collection(table).createIndexes(indexes.map((index) => ({ key: keyOf(index) })));
  }
}

export function mongoDocuments(db: Db, ask: Ask): DocumentStore {
  const collection = (table: Table): Collection<MongoDocument> => db.collection(table);
  const usage = async (table: Table, where: readonly Condition[]): Promise<Amount> => {
    const { indexes } = SCHEMAS[table];
    // Without a hint, MongoDB would read documents, and not an index.
    const index = indexes.find(([first]) => where.some(([field]) => field === first)) ?? indexes[0] ?? ['id'];
    const bytes = { $sum: { $add: ['$bytes', { $ifNull: ['$dataBytes', 0] }] } };
    const stages = [{ $match: filterOf(where) }, { $group: { _id: null, count: { $sum: 1 }, bytes } }];
    const [used] = await collection(table)
      .aggregate<Amount>(stages, { hint: keyOf(index) })
      .toArray();
    return { count: used?.count ?? 0, bytes: used?.bytes ?? 0 };
  };
  const documents: DocumentStore = {
    now: () =>
      ask(async () => {
        const { localTime } = await db.command({ hello: 1 });
        return Number(localTime);
      }),
    list: <T extends Table>(table: T, where: readonly Condition<T>[], order: Order<T> = {}) =>
      ask(async () => {
        const { by = 'id', isDescending = false, limit = 0, isBrief = false, maxBytes = Infinity } = order;
        const direction = isDescending ? -1 : 1;
        const cursor = collection(table)
          .find(filterOf(where), { projection: { data: 0, ...(isBrief && { body: 0 }) } })
          // By one field, so that an index orders them: with _id as well, MongoDB would read and sort all of them.
          .sort({ [nameOf(by)]: direction })
          .limit(limit);
        const found: StoredDocument<T>[] = [];
        let read = 0;
        for await (const row of cursor) {
          const document = documentIn(table, row);
          found.push(document);
          read += Buffer.byteLength(document.body);
          if (read >= maxBytes) break;
        }
        return found;
      }),
    countBy: (table, field, where) =>
      ask(async () => {
        const stages = [{ $match: filterOf(where) }, { $group: { _id: `$${nameOf(field)}`, count: { $sum: 1 } } }];
        const found = await collection(table)
          .aggregate<{ readonly _id: string; readonly count: number }>(stages)
          .toArray();
        return new Map(found.map(({ _id: value, count }) => [value, count]));
      }),
    data: (table, id) =>
      ask(async () => {
        const found = await collection(table).findOne({ _id: id }, { projection: { data: 1 } });
        return found?.data && Uint8Array.from(found.data.buffer);
      }),
    add: (table, documents) =>
      ask(() =>
        insertNew(
          collection(table),
          documents.map((document) => storedOf(table, document)),
        ),
      ),
    usage: (table, where) => ask(() => usage(table, where)),
    addWithin: (table, document, room) => {
      const work = () =>
        ask(async () => {
          await requireRoom({ usage }, table, document.apiKey, room, amountOf(table, document));
          await collection(table).insertOne(storedOf(table, document));
        });
      return LIMITS[table].isExact ? oneByOne(work) : work();
    },
    replace: (table, document, revision) =>
      ask(async () => {
        const { _id, ...changed } = storedOf(table, document);
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
  const oneByOne = withLock(documents);
  return documents;
}

function storedOf<T extends Table>(table: T, document: Document<T>): MongoDocument {
  const { id, body, data } = document;
  const additional = data && { data: new Binary(data), dataBytes: data.byteLength };
  const bytes = bytesOf(table, document);
  return { _id: id, ...fieldsIn(table, document), body, revision: randomUUID(), bytes, ...additional };
}

function documentIn<T extends Table>(table: T, row: MongoDocument): StoredDocument<T> {
  const { _id, body = '', revision, bytes, dataBytes = 0 } = row;
  const parts: readonly object[] = [fieldsIn(table, row), { id: _id, body, revision, bytes: bytes + dataBytes }];
  return Object.assign({}, ...parts);
}

function nameOf(field: string): string {
  return field === 'id' ? '_id' : field;
}

function keyOf(index: readonly string[]): Readonly<Record<string, 1>> {
  return Object.fromEntries(index.map((field) => [nameOf(field), 1] as const));
}

function filterOf(where: readonly Condition[]): Filter<MongoDocument> {
  const conditions = where.map(([field, operator, value]) => ({
    [nameOf(field)]:
      operator === 'has' ? { $regex: RegExp.escape(labelsField([value])) } : { [OPERATORS[operator]]: value },
  }));
  return conditions.length === 0 ? {} : { $and: conditions };
}
