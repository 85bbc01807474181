import type { DatabaseSync } from 'node:sqlite';
import type { Likeness } from '../ports/result-store.ts';
import { hostKeys } from '../records/hosts.ts';
import { mergePages } from '../records/merge-pages.ts';
import { byHost } from './by-host.ts';
import { filteredLists } from './filtered-list.ts';
import { perceptions } from './perceptions.ts';
import type { DetailedRow, FilteredRows, Place, Row, RowFilter, SimilarRow } from './rows.ts';

import { inTransaction } from './transaction.ts';

const PAGE_BY_TIME = `
  SELECT record FROM results INDEXED BY results_by_time
  WHERE (probed_at, id) < (?, ?) ORDER BY probed_at DESC, id DESC LIMIT ?`;
const PAGE_BY_URL = `
  SELECT id, probed_at, record FROM results INDEXED BY results_by_url
  WHERE url_key = ? AND (probed_at, id) < (?, ?) ORDER BY probed_at DESC, id DESC LIMIT ?`;
const PAGE_BY_FINAL_URL = `
  SELECT id, probed_at, record FROM results INDEXED BY results_by_final_url
  WHERE final_url_key = ? AND (probed_at, id) < (?, ?) ORDER BY probed_at DESC, id DESC LIMIT ?`;

const OLDEST = 'SELECT id FROM results WHERE id > ? AND id < ? ORDER BY id LIMIT ?';
/** Removes a host without results, which every query with a matching prefix would read. */
const DELETE_HOST = `
  DELETE FROM hosts WHERE host_id = ?1
  AND NOT EXISTS (SELECT 1 FROM results INDEXED BY results_by_host WHERE host_id = ?1)`;

/** For tests of the query plans; those of by-host are in by-host.ts. */
export const PAGE_STATEMENTS: readonly string[] = [PAGE_BY_TIME, PAGE_BY_URL, PAGE_BY_FINAL_URL, OLDEST];

/** The results in an open database. Methods are synchronous and throw SQLite's errors. */
export interface ResultTable {
  insert(rows: readonly Row[]): void;
  get(id: number): DetailedRow | undefined;
  page(filter: RowFilter, limit: number, place: Place): string[];
  /** Returns how many existed. */
  delete(ids: readonly number[]): number;
  oldest(limit: number, before: number, after: number): number[];
  /** May take long, and so runs in steps. */
  similar(likeness: Likeness, limit: number): Generator<void, SimilarRow[]>;
  /** May take long, and so runs in steps. */
  filteredPage(rows: FilteredRows, limit: number, place: Place): Generator<void, string[]>;
}

export function resultTable(db: DatabaseSync): ResultTable {
  const insertHost = db.prepare('INSERT INTO hosts (host, reversed, unicode) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const findHost = db.prepare('SELECT host_id FROM hosts WHERE host = ?');
  const insertResult = db.prepare(
    `INSERT INTO results (id, probed_at, host_id, url_key, final_url_key, record) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`,
  );
  const findResult = db.prepare('SELECT record FROM results WHERE id = ?');
  const insertEvidence = db.prepare('INSERT INTO evidence (id, evidence) VALUES (?, ?)');
  const findEvidence = db.prepare('SELECT evidence FROM evidence WHERE id = ?');
  const deleteEvidence = db.prepare('DELETE FROM evidence WHERE id = ?');
  const pageByTime = db.prepare(PAGE_BY_TIME);
  const pagesByUrl = [db.prepare(PAGE_BY_URL), db.prepare(PAGE_BY_FINAL_URL)];
  const deleteResult = db.prepare('DELETE FROM results WHERE id = ? RETURNING host_id, probed_at');
  const deleteHost = db.prepare(DELETE_HOST);
  const oldest = db.prepare(OLDEST);
  const hosts = byHost(db);
  const hashes = perceptions(db);
  const filtered = filteredLists(db);

  function hostId(host: string): number {
    const known = findHost.get(host)?.host_id;
    if (typeof known === 'number') return known;
    const keys = hostKeys(host);
    return Number(insertHost.run(keys.host, keys.reversed, keys.unicode).lastInsertRowid);
  }

  function insert(row: Row): void {
    const { id, probedAt, host, urlKey, finalUrlKey, record, evidence, perceptionHash, terms, apiKeyName } = row;
    const ofHost = hostId(host);
    if (insertResult.run(id, probedAt, ofHost, urlKey, finalUrlKey, record).changes === 0) return;
    const urlKeys = finalUrlKey === null ? [urlKey] : [urlKey, finalUrlKey];
    filtered.add({ id, probedAt, hostId: ofHost }, { terms, urlKeys });
    if (evidence !== null) insertEvidence.run(id, evidence);
    if (perceptionHash !== null) hashes.add(id, perceptionHash, apiKeyName);
  }

  /** Removes a result and returns its host; undefined when there is no such result. */
  function remove(id: number): number | undefined {
    const deleted = deleteResult.get(id);
    if (deleted === undefined) return undefined;
    deleteEvidence.run(id);
    hashes.remove(id);
    filtered.remove(id, Number(deleted.probed_at));
    return Number(deleted.host_id);
  }

  function pageOfUrls(urlKeys: readonly Uint8Array[], limit: number, place: Place): string[] {
    const pages = urlKeys.flatMap((key) =>
      pagesByUrl.map((statement) =>
        statement
          .all(key, place.probedAt, place.id, limit)
          .map((row) => ({ id: Number(row.id), probedAt: Number(row.probed_at), record: recordOf(row) })),
      ),
    );
    return mergePages(pages, limit).map(({ record }) => record);
  }

  function page(filter: RowFilter, limit: number, place: Place): string[] {
    switch (filter.by) {
      case 'all':
        return pageByTime.all(place.probedAt, place.id, limit).map(recordOf);
      case 'url':
        return pageOfUrls(filter.urlKeys, limit, place);
      case 'host':
        return recordsOf(hosts.ids(filter.ranges, limit, place));
    }
  }

  function recordsOf(ids: readonly number[]): string[] {
    return ids
      .map((id) => findResult.get(id))
      .filter((row) => row !== undefined)
      .map(recordOf);
  }

  function* similar(likeness: Likeness, limit: number): Generator<void, SimilarRow[]> {
    const found = yield* hashes.similar(likeness, limit);
    return found.flatMap(({ id, distance }) => {
      const row = findResult.get(id);
      return row === undefined ? [] : [{ record: recordOf(row), distance }];
    });
  }

  function* filteredPage(rows: FilteredRows, limit: number, place: Place): Generator<void, string[]> {
    return recordsOf(yield* filtered.ids(rows, limit, place));
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
    page,
    delete: (ids) =>
      inTransaction(db, () => {
        const deleted = ids.map(remove).filter((host) => host !== undefined);
        for (const host of new Set(deleted)) deleteHost.run(host);
        return deleted.length;
      }),
    oldest: (limit, before, after) => oldest.all(after, before, limit).map((row) => Number(row.id)),
    similar,
    filteredPage,
  };
}

function recordOf(row: Record<string, unknown>): string {
  return String(row.record);
}
