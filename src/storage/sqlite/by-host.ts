import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { endOfPrefix, type HostKey, type HostRange } from '../records/hosts.ts';
import type { Place } from './rows.ts';

/*
 * Two plans, both of which stop early.
 * - Merge: find the matching hosts, look at the newest result of each, and read only from the hosts that can
 * contribute. Costs one seek per host, however many results the hosts have. Measured: 1.5 us at 1e6 results.
 * - Walk: read the index by time from the newest and keep what matches. Costs one entry for each result that does not
 * match (measured: 0.5 us), so it suits prefixes that match many hosts, and gives up where fewer than one in a hundred
 * entries match.
 */

/** Number of hosts per requested row, up to which they are always merged. */
const MERGED_HOSTS_PER_ROW = 20;
const WALKED_ENTRIES_PER_ROW = 100;

const BEHIND = '(probed_at, id) < (?, ?)';
const NEWEST_FIRST = 'ORDER BY probed_at DESC, id DESC';

const INDEX_OF: Readonly<Record<HostKey, string>> = {
  host: 'hosts_by_host',
  reversed: 'hosts_by_reversed',
  unicode: 'hosts_by_unicode',
};

const ROWS_OF_HOST = `
  SELECT id, probed_at FROM results INDEXED BY results_by_host
  WHERE host_id = ? AND ${BEHIND} AND probed_at >= ? ${NEWEST_FIRST} LIMIT ?`;

/** Returns every statement of the plans for these ranges, for tests of the query plans. */
export function byHostStatements(keys: readonly HostKey[]): readonly string[] {
  return [countHosts(keys), newestOfHosts(keys), walkByTime(keys), ROWS_OF_HOST];
}

export interface ByHost {
  /** Returns the ids of the newest results after `place` whose host is in one of the ranges, newest first. */
  ids(ranges: readonly HostRange[], limit: number, place: Place): number[];
}

export function byHost(db: DatabaseSync): ByHost {
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare(sql);
    prepared.set(sql, made);
    return made;
  };

  function ids(ranges: readonly HostRange[], limit: number, place: Place): number[] {
    const keys = ranges.map(({ key }) => key);
    const bounds = ranges.flatMap(({ prefix }) => [prefix, endOfPrefix(prefix)]);
    const mergedHosts = limit * MERGED_HOSTS_PER_ROW;
    const hosts = number(statement(countHosts(keys)).get(...bounds, mergedHosts + 1)?.hosts);
    if (hosts > mergedHosts) {
      const walked = walk(keys, bounds, limit, place);
      if (walked.length === limit) return walked;
    }
    return merge(keys, bounds, limit, place);
  }

  function walk(keys: readonly HostKey[], bounds: SQLInputValue[], limit: number, place: Place): number[] {
    const entries = limit * WALKED_ENTRIES_PER_ROW;
    const rows = statement(walkByTime(keys)).all(place.probedAt, place.id, entries, ...bounds, limit);
    return rows.map((row) => number(row.id));
  }

  function merge(keys: readonly HostKey[], bounds: SQLInputValue[], limit: number, place: Place): number[] {
    const hosts = statement(newestOfHosts(keys)).all(...bounds, place.probedAt, place.id, limit);
    const rowsOfHost = statement(ROWS_OF_HOST);
    let newest: Place[] = [];
    // Rows below the floor cannot be in the answer, because there are enough newer rows.
    let floor = hosts.length < limit ? 0 : number(hosts.at(-1)?.newest);
    for (const { host_id: host } of hosts) {
      const rows = rowsOfHost.all(number(host), place.probedAt, place.id, floor, limit).map(placeOfRow);
      newest = mergeNewest(newest, rows, limit);
      if (newest.length === limit) floor = newest.at(-1)?.probedAt ?? floor;
    }
    return newest.map(({ id }) => id);
  }

  return { ids };
}

/** Counts a host in two ranges twice, which does no harm: UNION would read all hosts before it counts. */
function countHosts(keys: readonly HostKey[]): string {
  return `SELECT count(*) AS hosts FROM (${keys.map(hostsInRange).join(' UNION ALL ')} LIMIT ?)`;
}

/**
 * Returns the hosts that can have a row among the newest `limit`, the one with the newest result first. Other hosts
 * cannot: at least `limit` hosts have a newer result.
 */
function newestOfHosts(keys: readonly HostKey[]): string {
  return `
    WITH
      matching (host_id) AS MATERIALIZED (${keys.map(hostsInRange).join(' UNION ')}),
      heads (host_id, newest) AS MATERIALIZED (
        SELECT host_id, (
          SELECT probed_at FROM results INDEXED BY results_by_host
          WHERE host_id = matching.host_id AND ${BEHIND} ${NEWEST_FIRST} LIMIT 1
        ) FROM matching
      ),
      newest_heads (newest) AS (SELECT newest FROM heads WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT ?)
    SELECT host_id, newest FROM heads WHERE newest >= (SELECT min(newest) FROM newest_heads) ORDER BY newest DESC`;
}

/** The inner query defines the order: the join processes it row by row and stops at the limit. */
function walkByTime(keys: readonly HostKey[]): string {
  return `
    SELECT entries.id AS id
    FROM (
      SELECT id, host_id FROM results INDEXED BY results_by_time WHERE ${BEHIND} ${NEWEST_FIRST} LIMIT ?
    ) AS entries
    CROSS JOIN hosts ON hosts.host_id = entries.host_id
    WHERE ${keys.map((key) => `(hosts.${key} >= ? AND hosts.${key} < ?)`).join(' OR ')}
    LIMIT ?`;
}

function hostsInRange(key: HostKey): string {
  // `IS NOT NULL` lets SQLite use the partial index.
  return `SELECT host_id FROM hosts INDEXED BY ${INDEX_OF[key]} WHERE ${key} >= ? AND ${key} < ? AND ${key} IS NOT NULL`;
}

function mergeNewest(a: readonly Place[], b: readonly Place[], limit: number): Place[] {
  const merged: Place[] = [];
  let fromA = 0;
  let fromB = 0;
  while (merged.length < limit) {
    const nextA = a[fromA];
    const nextB = b[fromB];
    if (nextA !== undefined && (nextB === undefined || isNewer(nextA, nextB))) {
      merged.push(nextA);
      fromA += 1;
    } else if (nextB !== undefined) {
      merged.push(nextB);
      fromB += 1;
    } else break;
  }
  return merged;
}

function isNewer(a: Place, b: Place): boolean {
  return a.probedAt > b.probedAt || (a.probedAt === b.probedAt && a.id > b.id);
}

function placeOfRow(row: Record<string, unknown>): Place {
  return { probedAt: number(row.probed_at), id: number(row.id) };
}

function number(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('a column that holds integers gave something else');
  return value;
}
