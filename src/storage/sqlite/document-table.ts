import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Amount } from '../../capture/stored-limits.ts';
import { labelsField, whereKey } from '../documents/find-and-change.ts';
import { amountOf, bytesOf, checkRoom, LIMITS } from '../documents/room.ts';
import type { Condition, Document, DocumentStore, StoredDocument } from '../ports/document-store.ts';
import { fieldsIn, fieldsOf, type Table } from '../ports/document-tables.ts';
import type { Synchronous } from './remote.ts';
import { erasing, inTransaction } from './transaction.ts';

const BYTES = 'bytes + dataBytes';

/** Runs in the worker. */
export function documentTable(db: DatabaseSync): Synchronous<DocumentStore> {
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  };

  const usage = (table: Table, where: readonly Condition[]): Amount => {
    const sql = `SELECT count(*) AS count, total(${BYTES}) AS bytes FROM ${table} ${conditionsOf(where)}`;
    const { count, bytes } = statement(sql).get(...valuesOf(where)) ?? {};
    return { count: Number(count), bytes: Number(bytes) };
  };
  /** Returns false when there is a document with this id. */
  const insert = <T extends Table>(table: T, document: Document<T>): boolean => {
    const { id, body, data } = document;
    const fields = fieldsOf(table);
    const sql = `INSERT INTO ${table} (id, revision, bytes, dataBytes, body, data, ${fields.join()})
      VALUES (?, ?, ?, ?, ?, ?${', ?'.repeat(fields.length)}) ON CONFLICT DO NOTHING`;
    const content = [id, randomUUID(), bytesOf(table, document), data?.byteLength ?? 0, body, data ?? null];
    return Number(statement(sql).run(...content, ...Object.values(fieldsIn(table, document))).changes) > 0;
  };

  return {
    now: () => Date.now(),
    list: (table, where, order = {}) => {
      const { by = 'id', isDescending = false, limit = -1, isBrief = false, maxBytes = Infinity } = order;
      const direction = isDescending ? 'DESC' : 'ASC';
      const sql = `SELECT id, revision, ${BYTES} AS bytes, ${isBrief ? `''` : 'body'} AS body, ${fieldsOf(table).join()}
        FROM ${table} ${conditionsOf(where)} ORDER BY ${by} ${direction}, id ${direction} LIMIT ?`;
      const found: StoredDocument[] = [];
      let bytes = 0;
      for (const row of statement(sql).iterate(...valuesOf(where), limit)) {
        const document: StoredDocument = Object.assign(row);
        found.push(document);
        bytes += Buffer.byteLength(document.body);
        if (bytes >= maxBytes) break;
      }
      return found;
    },
    usage,
    countBy: (table, field, where) => {
      const sql = `SELECT ${field} AS value, count(*) AS count FROM ${table} ${conditionsOf(where)} GROUP BY ${field}`;
      const rows = statement(sql).all(...valuesOf(where));
      return new Map(rows.map(({ value, count }) => [String(value), Number(count)]));
    },
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
        const { where } = LIMITS[table];
        const own = usage(table, [...where, ...whereKey(document.apiKey)]);
        checkRoom(table, room, { all: usage(table, where), own }, amountOf(table, document));
        insert(table, document);
      }),
    replace: (table, document, revision) => {
      if (revision === undefined) return insert(table, document);
      const { id, body, data } = document;
      const fields = fieldsOf(table);
      const update = statement(`UPDATE ${table} SET ${fields.map((field) => `${field} = ?, `).join('')}
        revision = ?, bytes = ?, dataBytes = coalesce(?, dataBytes), body = ?, data = coalesce(?, data)
        WHERE id = ? AND revision = ?`);
      const content = [randomUUID(), bytesOf(table, document), data?.byteLength ?? null, body, data ?? null];
      const values = [...Object.values(fieldsIn(table, document)), ...content];
      return erasing(db, () => Number(update.run(...values, id, revision).changes) > 0);
    },
    remove: (table, where) =>
      erasing(db, () =>
        Number(statement(`DELETE FROM ${table} ${conditionsOf(where)}`).run(...valuesOf(where)).changes),
      ),
  };
}

function conditionsOf(where: readonly Condition[]): string {
  const terms = where.map(([field, operator]) => {
    if (operator === 'has') return `instr(${field}, ?) > 0`;
    return operator.endsWith('in') ? `${field} ${operator} (SELECT value FROM json_each(?))` : `${field} ${operator} ?`;
  });
  return terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`;
}

function valuesOf(where: readonly Condition[]): (string | number)[] {
  return where.map((condition) => {
    if (condition[1] === 'has') return labelsField([condition[2]]);
    const [, , value] = condition;
    return typeof value === 'object' ? JSON.stringify(value) : value;
  });
}
