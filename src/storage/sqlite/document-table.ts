import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type Condition,
  checkRoom,
  type Document,
  type DocumentStore,
  type StoredDocument,
  type Table,
} from '../ports/document-store.ts';
import type { Synchronous } from './remote.ts';
import { erasing, inTransaction } from './transaction.ts';

const FIELDS = 'id, "of", kind, at, due, revision';

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
  /** Returns false when there is a document with this id. */
  const insert = (table: Table, { id, of, kind, at, due, body, data }: Document): boolean => {
    const sql = `INSERT INTO ${table} (${FIELDS}, body, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    return Number(statement(sql).run(id, of, kind, at, due, randomUUID(), body, data ?? null).changes) > 0;
  };

  return {
    now: () => Date.now(),
    list: (table, where, { by = 'id', isDescending = false, limit = -1, skip = 0, isBrief = false } = {}) => {
      const direction = isDescending ? 'DESC' : 'ASC';
      const sql = `SELECT ${FIELDS}, ${isBrief ? `''` : 'body'} AS body FROM ${table} ${conditionsOf(where)}
        ORDER BY "${by}" ${direction}, id ${direction} LIMIT ? OFFSET ?`;
      return statement(sql)
        .all(...valuesOf(where), limit, skip)
        .map(documentIn);
    },
    count,
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
        checkRoom(room, count(table, room.where), count(table, [...room.where, ['of', '=', document.of]]));
        insert(table, document);
      }),
    replace: (table, document, revision) => {
      if (revision === undefined) return insert(table, document);
      const { id, of, kind, at, due, body, data } = document;
      const update = statement(`UPDATE ${table} SET "of" = ?, kind = ?, at = ?, due = ?, revision = ?, body = ?,
        data = coalesce(?, data) WHERE id = ? AND revision = ?`);
      return erasing(
        db,
        () => Number(update.run(of, kind, at, due, randomUUID(), body, data ?? null, id, revision).changes) > 0,
      );
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
  };
}
