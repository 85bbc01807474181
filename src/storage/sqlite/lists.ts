import type { DatabaseSync } from 'node:sqlite';
import type { Result } from '../../capture/result/result.ts';
import { type Keyset, MAX_READ_CHARACTERS, type ResultFilter } from '../ports/result-store.ts';
import { wantedChoices } from '../records/host-terms.ts';
import { endOfPrefix, type HostKey, type HostRange, hostKeys, hostRanges, matchesHost } from '../records/hosts.ts';
import { asRecord, placeOf, startOf, timeOf } from '../records/record.ts';
import { hostTerm, hostTermsOf, rangeTerm, termsOf, urlTerm, wantedTerms } from '../records/terms.ts';
import { urlKeysOf, wantedUrlKeys } from '../records/url-keys.ts';
import { indexedWords, wordsExpression } from './words.ts';

/*
 * Every list of records: all, those of a URL or of hosts, and with conditions. An FTS5 table holds the terms of each
 * record under its place, a number that grows with the time of the record. So the records that have all terms are read
 * in list order, and only as many as a page needs, whether the terms are rare or frequent. `places` leads from the
 * number to the record.
 */

/*
 * node:sqlite binds numbers as reals. FTS5 takes no real as a bound of its rows: it would read all newer records before
 * the page. So all numbers of these statements are bound as `BigInt`.
 */

/** 2020-01-01: the places of 910 to 3130 are safe integers. */
const EPOCH_MS = 1_577_836_800_000;
/** Length of a slot in milliseconds: the longer it is, the smaller are the differences of places in the index. */
const SLOT_MS = 16;
/** Number of places in a slot. Further records take places of the next slot. */
const PLACES_OF_SLOT = 4096;
const MAX_PLACE = Number.MAX_SAFE_INTEGER - 2 * PLACES_OF_SLOT;
const MIN_PLACE = -MAX_PLACE;
/** Maximum number of milliseconds after a record's own in which a free place is searched. */
const MAX_LATER_MS = 1000;

/** Maximum number of hosts in the expression. With more, records are compared with the ranges one by one. */
const MAX_HOST_TERMS = 500;
/** Records compared with the ranges at once, which takes a few milliseconds. */
const COMPARED_TOGETHER = 1000;

/** The statements for lists by terms and, where a list has no other condition, by time alone. */
const MATCHING = `
  SELECT place, id, host_id
  FROM (
    SELECT rowid FROM record_terms WHERE record_terms MATCH ? AND rowid < ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?
  ) AS record_terms
  CROSS JOIN places ON places.place = record_terms.rowid`;
const BETWEEN = 'SELECT place, id, host_id FROM places WHERE place < ? AND place >= ? ORDER BY place DESC LIMIT ?';
const HOSTS: Readonly<Record<HostKey, string>> = {
  host: hostsInRange('host'),
  reversed: hostsInRange('reversed'),
  unicode: hostsInRange('unicode'),
};

/** For tests of the query plans. */
export const LIST_STATEMENTS: readonly string[] = [MATCHING, BETWEEN, ...Object.values(HOSTS)];

export function lists(db: DatabaseSync) {
  const insertHost = db.prepare('INSERT INTO hosts (host, reversed, unicode) VALUES (?, ?, ?)');
  const findHost = db.prepare('SELECT host_id FROM hosts WHERE host = ?');
  const deleteHost = db.prepare('DELETE FROM hosts WHERE host_id = ?');
  const lastPlace = db.prepare('SELECT max(place) AS place FROM places WHERE place >= ? AND place < ?');
  const insertPlace = db.prepare('INSERT INTO places (place, id, host_id) VALUES (?, ?, ?)');
  const findPlace = db.prepare('SELECT place, host_id FROM places WHERE place >= ? AND place < ? AND id = ?');
  const deletePlace = db.prepare('DELETE FROM places WHERE place = ?');
  const insertTerms = db.prepare('INSERT INTO record_terms (rowid, words, terms) VALUES (?, ?, ?)');
  const deleteTerms = db.prepare('DELETE FROM record_terms WHERE rowid = ?');
  const matching = db.prepare(MATCHING);
  const between = db.prepare(BETWEEN);
  const findResult = db.prepare('SELECT probed_at, record FROM results WHERE id = ?');
  const keysOfHost = db.prepare('SELECT host, reversed, unicode FROM hosts WHERE host_id = ?');
  const hostsOf = {
    host: db.prepare(HOSTS.host),
    reversed: db.prepare(HOSTS.reversed),
    unicode: db.prepare(HOSTS.unicode),
  };

  function hostId(host: string): number {
    const known = findHost.get(host)?.host_id;
    if (typeof known === 'number') return known;
    const keys = hostKeys(host);
    return Number(insertHost.run(keys.host, keys.reversed, keys.unicode).lastInsertRowid);
  }

  /** The first free place of the slot of a time; undefined when all are taken. */
  function freePlaceOf(ms: number): number | undefined {
    const first = firstPlaceOf(ms);
    const last = lastPlace.get(BigInt(first), BigInt(first + PLACES_OF_SLOT))?.place;
    if (typeof last !== 'number') return first;
    return last + 1 < first + PLACES_OF_SLOT ? last + 1 : undefined;
  }

  function freePlace(probedAt: number): number {
    for (let ms = probedAt; ms < probedAt + MAX_LATER_MS; ms += SLOT_MS) {
      const place = freePlaceOf(ms);
      if (place !== undefined) return place;
    }
    throw new RangeError(`there is no place for another record of ${new Date(probedAt).toISOString()}`);
  }

  /** Returns the ids of the hosts in the ranges; undefined when there are too many. */
  function hostIds(ranges: readonly HostRange[]): readonly number[] | undefined {
    const found = new Set<number>();
    for (const { key, prefix } of ranges) {
      const inRange = hostsOf[key].all(prefix, endOfPrefix(prefix), BigInt(MAX_HOST_TERMS + 1));
      for (const { host_id: id } of inRange) found.add(Number(id));
    }
    return found.size > MAX_HOST_TERMS ? undefined : [...found];
  }

  /** Returns a test of hosts that compares each host with the ranges once. */
  function hostFilter(ranges: readonly HostRange[]): (hostId: number) => boolean {
    const known = new Map<number, boolean>();
    return (hostId) => {
      const before = known.get(hostId);
      if (before !== undefined) return before;
      const matches = isHostOf(keysOfHost.get(BigInt(hostId)) ?? {}, ranges);
      known.set(hostId, matches);
      return matches;
    };
  }

  /** Returns the plan of a list; undefined when nothing can match. */
  function planOf(filter: ResultFilter): Plan | undefined {
    const { where = {} } = filter;
    const plan = planOfTerms(filter, { all: wantedTerms(where, filter.ofKey), choices: wantedChoices(where) });
    return plan && { ...plan, expression: withWords(plan.expression, wordsExpression(where.words)) };
  }

  function planOfTerms(filter: ResultFilter, terms: Wanted): Plan | undefined {
    switch (filter.by) {
      case 'all':
        return { ...READ_AS_NEEDED, expression: allOf(terms) };
      case 'url': {
        const urlKeys = wantedUrlKeys(filter);
        const isWanted = (key: Uint8Array) => urlKeys.some((wanted) => Buffer.compare(wanted, key) === 0);
        return {
          ...READ_AS_NEEDED,
          expression: allOf(terms, urlKeys.map(urlTerm)),
          hasUrl: (record) => urlKeysOf(record).some(isWanted),
        };
      }
      case 'host':
        return planOfHosts(terms, hostRanges(filter.host));
    }
  }

  function planOfHosts(terms: Wanted, ranges: readonly HostRange[]): Plan | undefined {
    const rangeTerms = ranges.map(rangeTerm);
    const known = rangeTerms.filter((term) => term !== undefined);
    const ofRanges = known.length < ranges.length ? [] : known.map(({ term }) => term);
    const isExact = known.length === ranges.length && known.every((term) => term.isExact);
    if (isExact) return { ...READ_AS_NEEDED, expression: allOf(terms, ofRanges) };
    const hosts = hostIds(ranges);
    if (hosts?.length === 0) return undefined;
    if (hosts !== undefined) return { ...READ_AS_NEEDED, expression: allOf(terms, hosts.map(hostTerm)) };
    return {
      ...READ_AS_NEEDED,
      expression: allOf(terms, ofRanges),
      readTogether: COMPARED_TOGETHER,
      hasHost: hostFilter(ranges),
    };
  }

  /**
   * Returns the newest records after `from` that match, newest first, in steps between which the database may change.
   */
  function* page(filter: ResultFilter, limit: number, from?: Keyset): Generator<void, Result[]> {
    const { where = {} } = filter;
    const plan = planOf(filter);
    if (plan === undefined) return [];
    const after = placeOf(startOf(where, from));
    const found: { readonly id: number; readonly probedAt: number; readonly slot: number; readonly record: Result }[] =
      [];
    // All records of the last slot are read: the list orders them by time and id, and their places do not.
    let max = limit;
    let characters = 0;
    const isFullBefore = (place: number): boolean => {
      const least = found[max - 1];
      return least !== undefined && slotOf(place) < least.slot;
    };
    const since = where.from === undefined ? Number.NEGATIVE_INFINITY : timeOf(where.from);
    const floor = where.from === undefined ? MIN_PLACE : firstPlaceOf(since);
    for (let before = Math.min(firstPlaceOf(after.probedAt) + PLACES_OF_SLOT, MAX_PLACE); ; ) {
      const bounds = [before, floor, Math.max(plan.readTogether, limit + 1)].map(BigInt);
      const read = plan.expression === undefined ? between.all(...bounds) : matching.all(plan.expression, ...bounds);
      for (const row of read) {
        if (isFullBefore(Number(row.place))) break;
        if (!plan.hasHost(Number(row.host_id))) continue;
        const id = Number(row.id);
        const result = findResult.get(BigInt(id));
        if (result === undefined) continue;
        const probedAt = Number(result.probed_at);
        const isAfter = probedAt < after.probedAt || (probedAt === after.probedAt && id < after.id);
        if (!isAfter || probedAt < since) continue;
        const text = String(result.record);
        const record = asRecord(JSON.parse(text));
        if (!plan.hasUrl(record)) continue;
        found.push({ id, probedAt, slot: slotOf(Number(row.place)), record });
        characters += text.length;
        if (characters >= MAX_READ_CHARACTERS) max = Math.min(max, found.length);
      }
      const last = read.at(-1)?.place;
      if (last === undefined || isFullBefore(Number(last))) break;
      before = Number(last);
      yield;
    }
    return found
      .sort((a, b) => b.probedAt - a.probedAt || b.id - a.id)
      .slice(0, max)
      .map(({ record }) => record);
  }

  function indexTerms(place: bigint, ofHost: number, record: Result, words: string | undefined): void {
    const urlTerms = urlKeysOf(record).map(urlTerm);
    const terms = [...termsOf(record), ...hostTermsOf(record.host), hostTerm(ofHost), ...urlTerms];
    const ofPage = words === undefined ? { words: '', terms: [] } : indexedWords(words);
    insertTerms.run(place, ofPage.words, [...terms, ...ofPage.terms].join(' '));
  }

  /** Returns the row of a record by its place: in its slot, or in one after others whose places were all taken. */
  function placed(id: number, probedAt: number) {
    for (let ms = probedAt; ms < probedAt + MAX_LATER_MS; ms += SLOT_MS) {
      const first = firstPlaceOf(ms);
      const row = findPlace.get(BigInt(first), BigInt(first + PLACES_OF_SLOT), BigInt(id));
      if (row !== undefined) return { place: BigInt(Number(row.place)), hostId: Number(row.host_id) };
      if (freePlaceOf(ms) !== undefined) return undefined;
    }
    return undefined;
  }

  return {
    /** Adds a record with its terms and the words of its page. Call it in the transaction of the record. */
    add: (record: Result, words?: string) => {
      const place = BigInt(freePlace(timeOf(record.probed_at)));
      const ofHost = hostId(record.host);
      insertPlace.run(place, BigInt(record.id), BigInt(ofHost));
      indexTerms(place, ofHost, record, words);
    },
    /** Replaces the terms of a record, and the words of its page. Call it in the transaction of the record. */
    change: (record: Result, words: string | undefined) => {
      const row = placed(record.id, timeOf(record.probed_at));
      if (row === undefined) return;
      deleteTerms.run(row.place);
      indexTerms(row.place, row.hostId, record, words);
    },
    remove: (id: number, probedAt: number) => {
      const row = placed(id, probedAt);
      if (row === undefined) return;
      deletePlace.run(row.place);
      deleteTerms.run(row.place);
      // A host without records would be read by every query with a matching prefix.
      const bounds = [MAX_PLACE, MIN_PLACE, 1].map(BigInt);
      const ofHost = inTerms(`"${hostTerm(row.hostId)}"`);
      if (ofHost !== undefined && matching.get(ofHost, ...bounds) === undefined) deleteHost.run(BigInt(row.hostId));
    },
    page,
  };
}

interface Plan {
  /** Condition in FTS5's query language; undefined when every record matches. */
  readonly expression: string | undefined;
  readonly readTogether: number;
  readonly hasHost: (hostId: number) => boolean;
  /** Whether a record that has the URL's term has the URL. */
  readonly hasUrl: (record: Result) => boolean;
}

const READ_AS_NEEDED: Plan = { expression: undefined, readTogether: 1, hasHost: () => true, hasUrl: () => true };

function hostsInRange(key: HostKey): string {
  // `IS NOT NULL` lets SQLite use the partial index.
  return `SELECT host_id FROM hosts INDEXED BY hosts_by_${key} WHERE ${key} >= ? AND ${key} < ? AND ${key} IS NOT NULL LIMIT ?`;
}

/** Terms that a record must all have, and lists of terms of which it must have one each. */
interface Wanted {
  readonly all: readonly string[];
  readonly choices: readonly (readonly string[])[];
}

/** Returns the expression for these terms and one of `oneOf`; undefined without any. */
function allOf({ all, choices }: Wanted, oneOf: readonly string[] = []): string | undefined {
  const quoted = (terms: readonly string[]) => terms.map((term) => `"${term}"`);
  const lists = [...choices, ...(oneOf.length === 0 ? [] : [oneOf])];
  const parts = [...quoted(all), ...lists.map((terms) => `(${quoted(terms).join(' OR ')})`)];
  return parts.length === 0 ? undefined : parts.join(' AND ');
}

/** Limits an expression to the facts of the record. */
function inTerms(expression: string | undefined): string | undefined {
  return expression === undefined ? undefined : `terms : (${expression})`;
}

function withWords(terms: string | undefined, words: string | undefined): string | undefined {
  const both = [inTerms(terms), words].filter((part) => part !== undefined);
  return both.length === 0 ? undefined : both.map((part) => `(${part})`).join(' AND ');
}

function isHostOf({ host, reversed, unicode }: Record<string, unknown>, ranges: readonly HostRange[]): boolean {
  const keys = { host: String(host), reversed: String(reversed), unicode: unicode === null ? null : String(unicode) };
  return matchesHost(keys, ranges);
}

function firstPlaceOf(ms: number): number {
  return Math.max(
    MIN_PLACE,
    Math.min(Math.floor((ms - EPOCH_MS) / SLOT_MS) * PLACES_OF_SLOT, MAX_PLACE - PLACES_OF_SLOT),
  );
}

function slotOf(place: number): number {
  return Math.floor(place / PLACES_OF_SLOT);
}
