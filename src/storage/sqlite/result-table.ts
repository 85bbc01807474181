import type { DatabaseSync } from 'node:sqlite';
import type { Likeness } from '../ports/result-store.ts';
import { lists } from './lists.ts';
import { perceptions } from './perceptions.ts';
import type { DetailedRow, ListedRows, Place, Row, SimilarRow } from './rows.ts';
import { inTransaction } from './transaction.ts';

const OLDEST = 'SELECT id FROM results WHERE id > ? AND id < ? ORDER BY id LIMIT ?';

/** For tests of the query plans; those of lists are in lists.ts. */
export const RESULT_STATEMENTS: readonly string[] = [OLDEST];

/** The results in an open database. Methods are synchronous and throw SQLite's errors. */
export interface ResultTable {
  insert(rows: readonly Row[]): void;
  get(id: number): DetailedRow | undefined;
  /** Returns how many existed. */
  delete(ids: readonly number[]): number;
  oldest(limit: number, before: number, after: number): number[];
  /** May take long, and so runs in steps. */
  similar(likeness: Likeness, limit: number): Generator<void, SimilarRow[]>;
  /** May take long, and so runs in steps. */
  page(rows: ListedRows, limit: number, place: Place): Generator<void, string[]>;
}

export function resultTable(db: DatabaseSync): ResultTable {
  const insertResult = db.prepare(
    `INSERT INTO results (id, probed_at, url_key, final_url_key, record) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`,
  );
  const findResult = db.prepare('SELECT record FROM results WHERE id = ?');
  const insertEvidence = db.prepare('INSERT INTO evidence (id, evidence) VALUES (?, ?)');
  const findEvidence = db.prepare('SELECT evidence FROM evidence WHERE id = ?');
  const deleteEvidence = db.prepare('DELETE FROM evidence WHERE id = ?');
  const deleteResult = db.prepare('DELETE FROM results WHERE id = ? RETURNING probed_at');
  const oldest = db.prepare(OLDEST);
  const hashes = perceptions(db);
  const listed = lists(db);

  function insert(row: Row): void {
    const { id, probedAt, host, urlKey, finalUrlKey, record, evidence, perceptionHash, terms, apiKeyName } = row;
    if (insertResult.run(id, probedAt, urlKey, finalUrlKey, record).changes === 0) return;
    const urlKeys = finalUrlKey === null ? [urlKey] : [urlKey, finalUrlKey];
    listed.add({ id, probedAt, host }, { terms, urlKeys });
    if (evidence !== null) insertEvidence.run(id, evidence);
    if (perceptionHash !== null) hashes.add(id, perceptionHash, apiKeyName);
  }

  /** Returns false when there is no such result. */
  function remove(id: number): boolean {
    const deleted = deleteResult.get(id);
    if (deleted === undefined) return false;
    deleteEvidence.run(id);
    hashes.remove(id);
    listed.remove(id, Number(deleted.probed_at));
    return true;
  }

  function* similar(likeness: Likeness, limit: number): Generator<void, SimilarRow[]> {
    const found = yield* hashes.similar(likeness, limit);
    return found.flatMap(({ id, distance }) => {
      const row = findResult.get(id);
      return row === undefined ? [] : [{ record: recordOf(row), distance }];
    });
  }

  return {
    insert: (rows) =>
      inTransaction(db, () => {
        for (const row of rows) insert(row);
      }),
    get: (id) => {
      const row = findResult.get(id);
      if (row === undefined) return undefined;
      const evidence = findEvidence.get(id)?.evidence;
      return { record: recordOf(row), evidence: evidence === undefined ? null : String(evidence) };
    },
    delete: (ids) => inTransaction(db, () => ids.filter(remove).length),
    oldest: (limit, before, after) => oldest.all(after, before, limit).map((row) => Number(row.id)),
    similar,
    page: listed.page,
  };
}

function recordOf(row: Record<string, unknown>): string {
  return String(row.record);
}
