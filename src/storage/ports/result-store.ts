import type { DatabaseKind } from '../../capture/artifacts/artifacts.ts';
import type { Marks } from '../../capture/finding/marks.ts';
import type { ResultConditions } from '../../capture/finding/result-conditions.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import type { DetailedResult, Result, StoredRecord } from '../../capture/result/result.ts';

/**
 * Selects records: all, those of a URL, or those of a host as by-host defines it. A URL matches the URL that was
 * fetched or the final URL of a record, all in the form that URL parsers write. `orUrl`: a second URL that also
 * matches. `where`: conditions that the records also meet. `ofKey`: the name of the API key that requested them.
 */
export type ResultFilter = Chosen & {
  readonly where?: ResultConditions | undefined;
  readonly ofKey?: string | undefined;
};

type Chosen =
  | { readonly by: 'all' }
  | { readonly by: 'url'; readonly url: string; readonly orUrl?: string | undefined }
  | { readonly by: 'host'; readonly host: string };

/** The position in a list after which the next page begins. Lists are ordered newest first by `(probed_at, id)`. */
export interface Keyset {
  /** ISO 8601, UTC, with milliseconds. */
  readonly probedAt: string;
  readonly id: number;
}

/** Returns the position after a record. */
export function keysetOf({ probed_at, id }: Pick<Result, 'probed_at' | 'id'>): Keyset {
  return { probedAt: probed_at, id };
}

/** Maximum number of differing bits for visually similar screenshots. */
export const MAX_DISTANCE = 15;

/** A query for similar captures: the hash of a screenshot, and how many bits may differ. */
export interface Likeness {
  /** 16 hex digits. */
  readonly hash: string;
  /** 0 to `MAX_DISTANCE`. */
  readonly distance: number;
  /** The id of the capture that the others are compared with, which is left out. */
  readonly except: number;
  /** Name of the API key that requested the captures; undefined: those of all keys. */
  readonly ofKey?: string | undefined;
}

/** A capture that is similar to another one. */
export interface SimilarCapture {
  readonly id: number;
  /** Number of bits in which the hashes differ. */
  readonly distance: number;
}

/** The marks by which retention decides. */
export type RetainedBy = Pick<Marks, 'labels' | 'hold'>;

export interface Deleted {
  /** Number of records that existed and were deleted. */
  readonly deleted: number;
  /** Ids of the records that were kept because they are held. */
  readonly held: readonly number[];
}

/**
 * `off`: the service has no database. `down`: the database cannot be reached now, and is tried again. `damaged`: its
 * file is corrupt or gone, and an operator has to act; records wait in the outbox meanwhile.
 */
export type StoreState = 'off' | 'up' | 'down' | 'damaged';

/**
 * The port to the database of results. Methods reject with a `CapstanError` of code `database_not_enabled` or
 * `database_unavailable` when they cannot answer; the store recovers by itself.
 */
export interface ResultStore {
  readonly kind: DatabaseKind | 'none';
  readonly state: StoreState;

  /**
   * Stores a record, its evidence and the packed words of its page, durably and together. An existing id is not an
   * error and changes nothing.
   */
  insert(record: Result & Partial<Pick<StoredRecord, 'evidence' | 'words'>>): Promise<void>;

  /**
   * Returns the packed words of the pages of these captures, as far as they are indexed. `ofKey`: only of captures that
   * this API key requested.
   */
  wordsOf(ids: readonly number[], ofKey?: string): Promise<ReadonlyMap<number, string>>;
  /** Returns the ids of at most `limit` captures above `after` whose words are stored, oldest (smallest) first. */
  indexed(limit: number, after?: number): Promise<readonly number[]>;
  /** Indexes the words of an earlier capture. Returns false when there is no record, or it has words. */
  addWords(id: number, words: string): Promise<boolean>;

  get(id: number): Promise<DetailedResult | undefined>;
  /**
   * Returns the records of these captures, without their evidence, which is most of their size. `ofKey`: only of
   * captures that this API key requested. Callers read `RECORDS_TOGETHER` at a time: see `recordsOf`.
   */
  records(ids: readonly number[], ofKey?: string): Promise<ReadonlyMap<number, Result>>;
  /** Returns the name of the API key that requested a capture, `''` without a named key; undefined without a record. */
  keyOf(id: number): Promise<string | undefined>;

  /**
   * Returns at most `limit` records after `after`, newest first by `(probed_at, id)`. Ends with the record by which
   * they have `MAX_READ_CHARACTERS`: fewer than `limit` need not be the last ones, see `endsList`.
   */
  page(filter: ResultFilter, limit: number, after?: Keyset): Promise<readonly Result[]>;

  /**
   * Returns at most `limit` captures whose `perception_hash` differs in at most this many bits: nearest first, then
   * newest by id.
   */
  similar(likeness: Likeness, limit: number): Promise<readonly SimilarCapture[]>;

  /** Replaces the marks of a record, durably. Returns false when they are not `before`, or when there is no record. */
  mark(id: number, before: Marks, after: Marks): Promise<boolean>;
  /** Returns the labels and holds of the records that have any. */
  marked(ids: readonly number[]): Promise<ReadonlyMap<number, RetainedBy>>;

  /** Deletes records, their evidence and words, durably, except held ones; unknown ids are ignored. */
  delete(ids: readonly number[]): Promise<Deleted>;

  /** Returns the ids of at most `limit` records above `after` and below `before`, oldest (smallest) first. */
  oldest(limit: number, before: number, after?: number): Promise<readonly number[]>;
}

/** Number of characters of records that are read at once, which bounds memory and the longest turn. */
export const MAX_READ_CHARACTERS = REQUEST_LIMITS.readTogether.max;
/** Number of records that are read at once by their ids. */
export const RECORDS_TOGETHER = 50;
/** Number of records of a list that are read at once. Measured in MongoDB: 250 are turns of up to 43 ms. */
export const LISTED_TOGETHER = 100;

/** Returns whether a page of records that was to have `limit` is the end of the list, and was not cut for its size. */
export function endsList(page: readonly Result[], limit: number): boolean {
  // Texts differ a little from those that the store has counted.
  return page.length < limit && charactersOf(page) < MAX_READ_CHARACTERS / 2;
}

function charactersOf(page: readonly Result[]): number {
  return page.reduce((sum, result) => sum + JSON.stringify(result).length, 0);
}

/** Yields each id with its record, undefined without one, and reads a few at a time. */
export async function* recordsOf(
  results: Pick<ResultStore, 'records'>,
  ids: readonly number[],
): AsyncGenerator<readonly [id: number, record: Result | undefined], void, undefined> {
  for (let from = 0; from < ids.length; from += RECORDS_TOGETHER) {
    const some = ids.slice(from, from + RECORDS_TOGETHER);
    const found = await results.records([...new Set(some)]);
    for (const id of some) yield [id, found.get(id)];
  }
}

/**
 * Yields all records that meet a filter, or those after `after`, in pages of `size`. `first`: the first page, when it
 * has been read.
 */
export async function* pagesOf(
  results: Pick<ResultStore, 'page'>,
  filter: ResultFilter,
  size: number,
  { first, after }: { readonly first?: readonly Result[]; readonly after?: Keyset | undefined } = {},
): AsyncGenerator<readonly Result[]> {
  for (let page = first ?? (await results.page(filter, size, after)); page.length > 0; ) {
    yield page;
    const last = page.at(-1);
    if (last === undefined || endsList(page, size)) return;
    page = await results.page(filter, size, keysetOf(last));
  }
}
