import type { DatabaseSync } from 'node:sqlite';
import { MAX_QUERIES, type QueryRecord, type QueryStore, refusalOfQuery } from '../ports/query-store.ts';
import type { Synchronous } from './remote.ts';
import { inTransaction } from './transaction.ts';

/** Runs in the worker. */
export function queryTable(db: DatabaseSync): Synchronous<QueryStore> {
  const count = db.prepare('SELECT count(*) AS n, coalesce(sum(api_key_name IS ?), 0) AS own FROM queries');
  const insert = db.prepare(
    `INSERT INTO queries (id, api_key_name, filter, position, delivered, created_at) VALUES (?1, ?2, ?3, ?4, ?4, ?5)`,
  );
  const find = db.prepare('SELECT * FROM queries WHERE id = ?');
  const newest = db.prepare(
    'SELECT * FROM queries WHERE ?1 IS NULL OR api_key_name = ?1 ORDER BY created_at DESC, rowid DESC LIMIT ?2',
  );
  const deliver = db.prepare('UPDATE queries SET delivered = max(delivered, ?) WHERE id = ?');
  const acknowledge = db.prepare(
    'UPDATE queries SET position = ?1, acknowledged_at = ?2 WHERE id = ?3 AND position <= ?1 AND delivered >= ?1',
  );
  const pass = db.prepare(
    `UPDATE queries SET position = ?2, delivered = ?2
    WHERE id = ?3 AND position = delivered AND position >= ?1 AND position < ?2`,
  );
  const remove = db.prepare('DELETE FROM queries WHERE id = ?');

  return {
    add: (query, maxQueries = MAX_QUERIES) =>
      inTransaction(db, () => {
        const counts = count.get(query.apiKeyName);
        const refusal = refusalOfQuery(query, { all: Number(counts?.n), own: Number(counts?.own) }, maxQueries);
        if (refusal !== undefined) throw refusal;
        insert.run(query.id, query.apiKeyName, query.filter, query.position, Date.now());
      }),
    get: (id) => {
      const row = find.get(id);
      return row === undefined ? undefined : recordOf(row);
    },
    newest: (limit, apiKeyName) => newest.all(apiKeyName ?? null, limit).map(recordOf),
    deliver: (id, upTo) => Number(deliver.run(upTo, id).changes) > 0,
    acknowledge: (id, upTo) => {
      acknowledge.run(upTo, Date.now(), id);
    },
    pass: (id, from, to) => {
      pass.run(from, to, id);
    },
    remove: (id) => Number(remove.run(id).changes) > 0,
  };
}

function recordOf(row: Record<string, unknown>): QueryRecord {
  const iso = (ms: unknown) => new Date(Number(ms)).toISOString();
  return {
    id: String(row.id),
    apiKeyName: row.api_key_name === null ? null : String(row.api_key_name),
    filter: String(row.filter),
    createdAt: iso(row.created_at),
    position: Number(row.position),
    delivered: Number(row.delivered),
    acknowledgedAt: row.acknowledged_at === null ? null : iso(row.acknowledged_at),
  };
}
