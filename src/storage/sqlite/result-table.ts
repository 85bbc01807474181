import type { DatabaseSync } from 'node:sqlite';
import { isOfKey } from '../../capture/client.ts';
import type { Marks } from '../../capture/finding/marks.ts';
import type { Result, StoredRecord } from '../../capture/result/result.ts';
import type { Keyset, Likeness, ResultFilter, ResultStore, RetainedBy, SimilarCapture } from '../ports/result-store.ts';
import { isMarked, marksOf, sameMarks } from '../records/marks.ts';
import { asDetailed, asRecord, timeOf, withoutEvidence } from '../records/record.ts';
import { lists } from './lists.ts';
import { perceptions } from './perceptions.ts';
import type { Synchronous } from './remote.ts';
import { inTransaction } from './transaction.ts';

const OLDEST = 'SELECT id FROM results WHERE id > ? AND id < ? ORDER BY id LIMIT ?';
const MARKED = `SELECT id, json_extract(record, '$.labels') AS labels, json_extract(record, '$.hold') AS hold
  FROM results WHERE id IN (SELECT value FROM json_each(?))`;
const INDEXED = 'SELECT id FROM page_words WHERE id > ? ORDER BY id LIMIT ?';

/** For tests of the query plans; those of lists are in lists.ts. */
export const RESULT_STATEMENTS: readonly string[] = [OLDEST, INDEXED, MARKED];

/** The results in an open database. Methods are synchronous and throw SQLite's errors. */
export interface ResultTable
  extends Synchronous<
    Pick<
      ResultStore,
      'get' | 'records' | 'keyOf' | 'mark' | 'marked' | 'delete' | 'oldest' | 'wordsOf' | 'addWords' | 'indexed'
    >
  > {
  insert(results: readonly StoredRecord[]): void;
  /** May take long, and so runs in steps. */
  similar(likeness: Likeness, limit: number): Generator<void, readonly SimilarCapture[]>;
  /** May take long, and so runs in steps. */
  page(filter: ResultFilter, limit: number, after?: Keyset): Generator<void, Result[]>;
}

export function resultTable(db: DatabaseSync): ResultTable {
  const insertResult = db.prepare(
    'INSERT INTO results (id, probed_at, record) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
  );
  const findResult = db.prepare('SELECT record FROM results WHERE id = ?');
  const findKey = db.prepare("SELECT json_extract(record, '$.api_key_name') AS name FROM results WHERE id = ?");
  const insertEvidence = db.prepare('INSERT INTO evidence (id, evidence) VALUES (?, ?)');
  const findEvidence = db.prepare('SELECT evidence FROM evidence WHERE id = ?');
  const deleteEvidence = db.prepare('DELETE FROM evidence WHERE id = ?');
  const insertWords = db.prepare('INSERT INTO page_words (id, words) VALUES (?, ?)');
  const findWords = db.prepare('SELECT words FROM page_words WHERE id = ?');
  const indexed = db.prepare(INDEXED);
  const deleteWords = db.prepare('DELETE FROM page_words WHERE id = ?');
  const deleteResult = db.prepare(
    "DELETE FROM results WHERE id = ? AND json_extract(record, '$.hold') IS NULL RETURNING probed_at",
  );
  const exists = db.prepare('SELECT 1 FROM results WHERE id = ?');
  const findMarked = db.prepare(MARKED);
  const updateResult = db.prepare('UPDATE results SET record = ? WHERE id = ?');
  const oldest = db.prepare(OLDEST);
  const hashes = perceptions(db);
  const listed = lists(db);

  function insert(detailed: StoredRecord): void {
    const { evidence, words } = detailed;
    const result = withoutEvidence(detailed);
    const { id, perception_hash: hash, api_key_name: apiKeyName = null } = result;
    if (insertResult.run(id, timeOf(result.probed_at), JSON.stringify(result)).changes === 0) return;
    listed.add(result, words);
    if (words !== undefined) insertWords.run(id, words);
    if (evidence !== null) insertEvidence.run(id, JSON.stringify(evidence));
    if (hash !== null) hashes.add(id, hash, apiKeyName);
  }

  /** Returns false when there is no such result. */
  function remove(id: number): boolean {
    const deleted = deleteResult.get(id);
    if (deleted === undefined) return false;
    deleteWords.run(id);
    deleteEvidence.run(id);
    hashes.remove(id);
    listed.remove(id, Number(deleted.probed_at));
    return true;
  }

  function keyOf(id: number): string | undefined {
    const row = findKey.get(id);
    return row && String(row.name ?? '');
  }

  function wordsOf(id: number): string | undefined {
    const words = findWords.get(id)?.words;
    return typeof words === 'string' ? words : undefined;
  }

  function mark(id: number, before: Marks, after: Marks): boolean {
    const row = findResult.get(id);
    if (row === undefined) return false;
    const record = asRecord(JSON.parse(String(row.record)));
    if (!sameMarks(record, before)) return false;
    const changed = { ...record, ...marksOf(after) };
    updateResult.run(JSON.stringify(changed), id);
    listed.change(changed, wordsOf(id));
    return true;
  }

  function marked(ids: readonly number[]): ReadonlyMap<number, RetainedBy> {
    const found = findMarked.all(JSON.stringify(ids)).map(({ id, labels, hold }) => {
      const marks: RetainedBy = { labels: JSON.parse(String(labels)), hold: JSON.parse(String(hold)) };
      return [Number(id), marks] as const;
    });
    return new Map(found.filter(([, marks]) => isMarked(marks)));
  }

  return {
    insert: (results) =>
      inTransaction(db, () => {
        for (const result of results) insert(result);
      }),
    get: (id) => {
      const row = findResult.get(id);
      if (row === undefined) return undefined;
      const evidence = findEvidence.get(id)?.evidence;
      return asDetailed(JSON.parse(String(row.record)), evidence === undefined ? null : JSON.parse(String(evidence)));
    },
    records: (ids, ofKey) => {
      const rows = ids.map((id) => findResult.get(id)).filter((row) => row !== undefined);
      const found = rows.map(({ record }) => asRecord(JSON.parse(String(record))));
      return new Map(found.filter((result) => isOfKey(result, ofKey)).map((result) => [result.id, result]));
    },
    keyOf,
    wordsOf: (ids, ofKey) => {
      const seen = ofKey === undefined ? ids : ids.filter((id) => keyOf(id) === ofKey);
      const rows = seen.map((id) => [id, wordsOf(id)] as const);
      return new Map(rows.flatMap(([id, words]) => (words === undefined ? [] : [[id, words] as const])));
    },
    addWords: (id, words) =>
      inTransaction(db, () => {
        const row = findResult.get(id);
        if (row === undefined || findWords.get(id) !== undefined) return false;
        listed.change(asRecord(JSON.parse(String(row.record))), words);
        insertWords.run(id, words);
        return true;
      }),
    indexed: (limit, after = 0) => indexed.all(after, limit).map((row) => Number(row.id)),
    page: listed.page,
    similar: hashes.similar,
    mark: (id, before, after) => inTransaction(db, () => mark(id, before, after)),
    marked,
    delete: (ids) =>
      inTransaction(db, () => {
        const left = ids.filter((id) => !remove(id));
        return { deleted: ids.length - left.length, held: left.filter((id) => exists.get(id) !== undefined) };
      }),
    oldest: (limit, before, after = 0) => oldest.all(after, before, limit).map((row) => Number(row.id)),
  };
}
