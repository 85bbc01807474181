import type { Document, Filter } from 'mongodb';
import type { HostRange } from '../records/hosts.ts';
import { BY_TIME, type Collections, HOST_FIELDS } from './collections.ts';
import type { HostDocument, ResultDocument } from './documents.ts';
import { mergeDocuments, pageThrough, type Span, type Window } from './windows.ts';

/*
 * Finds the matching hosts first, by anchored regular expressions on an index of the hosts.
 * - Few hosts: the server merges their entries, which the index holds in list order.
 * - Many hosts: the index by time is read until there are enough results, or, where too few of its next entries match,
 * the hosts are merged in steps, those with the newest results first.
 */

/** MongoDB merges up to 200 ranges of an index; above that it reads and sorts everything. */
export const MERGED_HOSTS = 150;
/** Entries of the index by time that are looked at for each row of a page, to see how many match. */
const SAMPLED_PER_ROW = 20;
/** Share of matching entries above which reading by time reads fewer of them than merging hosts would. */
const COMMON_SHARE = 0.02;
/** Longest possible host; a longer regular expression would be refused. */
const MAX_PREFIX = 8192;

/** A part of a list, and an additional condition for its results. */
interface MatchingSpan extends Span {
  readonly match: Filter<ResultDocument>;
}

/** Hosts with results in the given ranges. Reads at most one host more of each range than can be merged. */
interface MatchingHosts {
  readonly ranges: readonly HostRange[];
  readonly hosts: readonly string[];
}

export async function matchingHosts(collections: Collections, possible: readonly HostRange[]): Promise<MatchingHosts> {
  const found = await Promise.all(possible.map((range) => findHosts(collections, range)));
  return { ranges: possible.filter((_, at) => found[at]?.length !== 0), hosts: [...new Set(found.flat())] };
}

/** Returns the newest results of the span whose host is one of these, newest first. */
export async function pageByHost(
  collections: Collections,
  { ranges, hosts }: MatchingHosts,
  limit: number,
  { match, ...span }: MatchingSpan,
): Promise<ResultDocument[]> {
  if (hosts.length === 0) return [];
  return pageThrough(limit, span, async (window, rows) => {
    if (hosts.length <= MERGED_HOSTS) return mergeHosts(collections, hosts, match, window, rows);
    if (window.isMoment || (await isCommon(collections, ranges, match, window, rows)))
      return readByTime(collections, ranges, match, window, rows);
    const pages = ranges.map((range) => mergeNewest(collections, range, match, window, rows));
    return mergeDocuments(pages, rows);
  });
}

/** Counts the results of the hosts, up to `limit`. Returns `limit` when there are too many hosts to count. */
export async function countByHost({ results }: Collections, { hosts }: MatchingHosts, limit: number): Promise<number> {
  if (hosts.length > MERGED_HOSTS) return limit;
  return results.countDocuments({ host: { $in: [...hosts] } }, { limit, hint: HOST_FIELDS.host.index });
}

/** Returns the ranges that a host can be in, and that a regular expression can express. */
export function possibleRanges(ranges: readonly HostRange[]): readonly HostRange[] {
  return ranges.filter(({ prefix }) => prefix.length <= MAX_PREFIX && !prefix.includes('\0'));
}

/** Returns the hosts of a range, at most one more than can be merged. */
async function findHosts({ hosts }: Collections, range: HostRange): Promise<readonly string[]> {
  const { inHosts, index } = HOST_FIELDS[range.key];
  const found = await hosts
    .find(startsWith(inHosts, range))
    .hint(index)
    .project<{ _id: string }>({ _id: 1 })
    .limit(MERGED_HOSTS + 1)
    .toArray();
  return found.map(({ _id }) => _id);
}

function mergeHosts(
  { results }: Collections,
  hosts: readonly string[],
  match: Filter<ResultDocument>,
  { bounds, order }: Window,
  limit: number,
): Promise<ResultDocument[]> {
  return results
    .find({ host: { $in: hosts }, ...bounds, ...match })
    .hint(HOST_FIELDS.host.index)
    .sort(order)
    .limit(limit)
    .toArray();
}

/** Returns whether a good share of the window's next results match. Without a condition, the index alone is read. */
async function isCommon(
  { results }: Collections,
  ranges: readonly HostRange[],
  match: Filter<ResultDocument>,
  { bounds, order }: Window,
  limit: number,
): Promise<boolean> {
  const sampled = limit * SAMPLED_PER_ROW;
  const sample: Document[] = [
    { $match: bounds },
    { $sort: order },
    { $limit: sampled },
    { $match: { $and: [inRanges(ranges), match] } },
    { $count: 'matching' },
  ];
  const [found] = await results.aggregate<{ matching: number }>(sample, { hint: BY_TIME }).toArray();
  return (found?.matching ?? 0) >= sampled * COMMON_SHARE;
}

function readByTime(
  { results }: Collections,
  ranges: readonly HostRange[],
  match: Filter<ResultDocument>,
  { bounds, order }: Window,
  limit: number,
): Promise<ResultDocument[]> {
  return results
    .find({ ...bounds, $and: [inRanges(ranges), match] })
    .hint(BY_TIME)
    .sort(order)
    .limit(limit)
    .toArray();
}

/**
 * Merges the hosts with the newest results, as many at a time as can be merged, until the results are newer than
 * anything the next hosts may have. Also correct when the noted time of a host is later than its newest result.
 */
async function mergeNewest(
  collections: Collections,
  range: HostRange,
  match: Filter<ResultDocument>,
  window: Window,
  limit: number,
): Promise<ResultDocument[]> {
  const { inHosts, index } = HOST_FIELDS[range.key];
  const heads = collections.hosts
    .find(startsWith(inHosts, range))
    .hint(index)
    .project<Pick<HostDocument, '_id' | 'newest'>>({ _id: 1, newest: 1 })
    .sort({ newest: -1 })
    .batchSize(MERGED_HOSTS);
  let rows: ResultDocument[] = [];
  try {
    while (await heads.hasNext()) {
      const [first, ...others] = heads.readBufferedDocuments(MERGED_HOSTS);
      const oldest = rows.length < limit ? undefined : rows.at(-1)?.probed_at;
      if (first === undefined || (oldest !== undefined && first.newest < oldest)) break;
      const hosts = [first, ...others].map(({ _id }) => _id);
      const newer = oldest === undefined ? match : { $and: [match, { probed_at: { $gte: oldest } }] };
      rows = await mergeDocuments([rows, mergeHosts(collections, hosts, newer, window, limit)], limit);
    }
  } finally {
    await heads.close();
  }
  return rows;
}

/** Matches results whose host is in one of the ranges. */
export function inRanges(ranges: readonly HostRange[]): Filter<ResultDocument> {
  return { $or: ranges.map(matching) };
}

function matching(range: HostRange): Filter<ResultDocument> {
  return startsWith(HOST_FIELDS[range.key].inResults, range);
}

/** Matches the prefix literally. `$exists` lets MongoDB use the partial index. */
function startsWith(field: string, { key, prefix }: HostRange): Document {
  const anchored = { $regex: new RegExp(`^${escaped(prefix)}`) };
  return { [field]: key === 'unicode' ? { ...anchored, $exists: true } : anchored };
}

/** Replaces `RegExp.escape`, which writes letters as numbers: from these, MongoDB derives no index bounds. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
