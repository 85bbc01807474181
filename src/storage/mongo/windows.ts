import type { Keyset } from '../ports/result-store.ts';
import { timeOf } from '../records/record.ts';
import { NEWEST_FIRST } from './collections.ts';
import type { ResultDocument } from './documents.ts';

/** One range of an index on `(probed_at, _id)`, and its order in the list. */
export interface Window {
  readonly bounds: Readonly<Record<string, unknown>>;
  readonly order: Readonly<Record<string, -1>>;
  /** True for a window of one millisecond: few results, however many match. */
  readonly isMoment: boolean;
}

/**
 * Returns the results that follow a keyset, back to `from`, in two windows: the rest of its millisecond, then all older
 * results. One filter for both would make MongoDB read documents only to exclude them.
 */
function windowsBehind(after: Keyset | undefined, from: Date | undefined): readonly Window[] {
  const sinceFrom = from === undefined ? {} : { $gte: from };
  if (after === undefined) {
    return [{ bounds: from === undefined ? {} : { probed_at: sinceFrom }, order: NEWEST_FIRST, isMoment: false }];
  }
  const time = new Date(timeOf(after.probedAt));
  if (from !== undefined && time < from) return [];
  return [
    // Ordered only by the field that varies: with both, MongoDB would sort instead of merging.
    { bounds: { probed_at: time, _id: { $lt: after.id } }, order: { _id: -1 }, isMoment: true },
    { bounds: { probed_at: { $lt: time, ...sinceFrom } }, order: NEWEST_FIRST, isMoment: false },
  ];
}

/** The part of a list to read: results that follow a keyset and are not older than a time. */
export interface Span {
  readonly after: Keyset | undefined;
  readonly from: Date | undefined;
}

/** Reads a page from as many windows as needed. `read` returns at most `limit` rows of a window, newest first. */
export async function pageThrough<T>(
  limit: number,
  { after, from }: Span,
  read: (window: Window, limit: number) => Promise<readonly T[]>,
): Promise<T[]> {
  const rows: T[] = [];
  for (const window of windowsBehind(after, from)) {
    if (rows.length < limit) rows.push(...(await read(window, limit - rows.length)));
  }
  return rows;
}

/** Merges lists, each newest first, into their newest `limit` documents, without repetitions. */
export async function mergeDocuments(
  lists: readonly (readonly ResultDocument[] | Promise<readonly ResultDocument[]>)[],
  limit: number,
): Promise<ResultDocument[]> {
  const merged = new Map((await Promise.all(lists)).flat().map((document) => [document._id, document]));
  return [...merged.values()]
    .sort((a, b) => b.probed_at.getTime() - a.probed_at.getTime() || b._id - a._id)
    .slice(0, limit);
}
