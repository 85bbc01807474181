import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  amountOf,
  bytesOf,
  type Condition,
  checkRoom,
  type Document,
  type DocumentStore,
  type StoredDocument,
  type Table,
  type Usage,
} from '../ports/document-store.ts';
import type { Synchronous } from './remote.ts';
import { erasing, inTransaction } from './transaction.ts';

const FIELDS = 'id, "of", kind, at, due, revision, bytes + data_bytes AS bytes';

/** Runs in the worker. */
export function documentTable(db: DatabaseSync): Synchronous<DocumentStore> {
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  };

  const count = (table: Table, where: readonly Condition[]): number =>
    Number(statement(`SELECT count(*) AS n FROM ${table} ${conditionsOf(where)}`).get(...valuesOf(where))?.n);
  const usage = (table: Table, where: readonly Condition[], owner: string): Usage => {
    const bytes = 'bytes + data_bytes';
    const sql = `SELECT count(*) AS allCount, total(${bytes}) AS allBytes, count(*) FILTER (WHERE "of" = ?) AS ownCount,
      total(${bytes}) FILTER (WHERE "of" = ?) AS ownBytes FROM ${table} ${conditionsOf(where)}`;
    const { allCount, allBytes, ownCount, ownBytes } = statement(sql).get(owner, owner, ...valuesOf(where)) ?? {};
    return {
      all: { count: Number(allCount), bytes: Number(allBytes) },
      own: { count: Number(ownCount), bytes: Number(ownBytes) },
    };
  };
  /** Returns false when there is a document with this id. */
  const insert = (table: Table, document: Document): boolean => {
    const { id, of, kind, at, due, body, data } = document;
    const sql = `INSERT INTO ${table} (id, "of", kind, at, due, revision, bytes, data_bytes, body, data)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    const bytes = [bytesOf(document), data?.byteLength ?? 0];
    return Number(statement(sql).run(id, of, kind, at, due, randomUUID(), ...bytes, body, data ?? null).changes) > 0;
  };

  return {
    now: () => Date.now(),
    list: (table, where, order = {}) => {
      const { by = 'id', isDescending = false, limit = -1, skip = 0, isBrief = false, maxBytes = Infinity } = order;
      const direction = isDescending ? 'DESC' : 'ASC';
      const sql = `SELECT ${FIELDS}, ${isBrief ? `''` : 'body'} AS body FROM ${table} ${conditionsOf(where)}
        ORDER BY "${by}" ${direction}, id ${direction} LIMIT ? OFFSET ?`;
      const found: StoredDocument[] = [];
      let bytes = 0;
      for (const row of statement(sql).iterate(...valuesOf(where), limit, skip)) {
        const document = documentIn(row);
        found.push(document);
        bytes += Buffer.byteLength(document.body);
        if (bytes >= maxBytes) break;
      }
      return found;
    },
    count,
    countKinds: (table, where) => {
      const sql = `SELECT kind, count(*) AS number FROM ${table} ${conditionsOf(where)} GROUP BY kind`;
      const rows = statement(sql).all(...valuesOf(where));
      return new Map(rows.map(({ kind, number }) => [String(kind), Number(number)]));
    },
    usage,
    data: (table, id) => {
      const data = statement(`SELECT data FROM ${table} WHERE id = ?`).get(id)?.data;
      return data instanceof Uint8Array ? data : undefined;
    },
    add: (table, documents) =>
      inTransaction(db, () => {
        for (const document of documents) insert(table, document);
      }),
    addWithin: (table, document, room) =>
      inTransaction(db, () => {
        checkRoom(room, usage(table, room.where, document.of), amountOf(document));
        insert(table, document);
      }),
    replace: (table, document, revision) => {
      if (revision === undefined) return insert(table, document);
      const { id, of, kind, at, due, body, data } = document;
      const update = statement(`UPDATE ${table} SET "of" = ?, kind = ?, at = ?, due = ?, revision = ?, bytes = ?,
        data_bytes = coalesce(?, data_bytes), body = ?, data = coalesce(?, data) WHERE id = ? AND revision = ?`);
      const values = [randomUUID(), bytesOf(document), data?.byteLength ?? null, body, data ?? null];
      return erasing(db, () => Number(update.run(of, kind, at, due, ...values, id, revision).changes) > 0);
    },
    remove: (table, where) =>
      erasing(db, () =>
        Number(statement(`DELETE FROM ${table} ${conditionsOf(where)}`).run(...valuesOf(where)).changes),
      ),
  };
}

function conditionsOf(where: readonly Condition[]): string {
  const terms = where.map(([field, operator]) =>
    operator.endsWith('in') ? `"${field}" ${operator} (SELECT value FROM json_each(?))` : `"${field}" ${operator} ?`,
  );
  return terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`;
}

function valuesOf(where: readonly Condition[]): (string | number)[] {
  return where.map(([, , value]) => (typeof value === 'object' ? JSON.stringify(value) : value));
}

function documentIn(row: Record<string, unknown>): StoredDocument {
  return {
    id: String(row.id),
    of: String(row.of),
    kind: String(row.kind),
    at: Number(row.at),
    due: row.due === null ? null : Number(row.due),
    body: String(row.body),
    revision: String(row.revision),
    bytes: Number(row.bytes),
  };
}
