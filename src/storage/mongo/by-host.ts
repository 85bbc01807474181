import type { Document, Filter } from 'mongodb';
import type { HostRange } from '../records/hosts.ts';
import { BY_TIME, type Collections, HOST_FIELDS, NEWEST_FIRST } from './collections.ts';
import type { HostDocument, ResultDocument } from './documents.ts';
import type { HostSample } from './host-sample.ts';
import { pageThrough, type Span, type Window } from './windows.ts';

/*
 * Finds the matching hosts first, by anchored regular expressions on an index of the hosts. The rest depends on their
 * number.
 * - Few: the server merges the hosts' entries, which the index holds in list order.
 * - Many, and frequent among the newest results: the index by time is read from the newest until there are enough.
 * - Many, and rare: only the hosts with the newest results can be on the first page, so these are merged. For later
 * pages that is unknown, so all entries are read and sorted, unless reading a few entries by time is enough.
 */

/** MongoDB merges up to 200 ranges of an index; above that it reads and sorts everything. */
const MERGED_HOSTS = 150;
/** Share of matching results above which reading by time reads fewer entries than reading one per host would. */
const COMMON_SHARE = 0.02;
const WALKED_PER_ROW = 20;
/** Longest possible host; a longer regular expression would be refused. */
const MAX_PREFIX = 8192;

type HostHead = Pick<HostDocument, '_id' | 'newest'>;

/** A part of a list, and an additional condition for its results. */
interface MatchingSpan extends Span {
  readonly match: Filter<ResultDocument>;
}

/** Returns the newest results of the span whose host is in one of the possible ranges, newest first. */
export async function pageByHost(
  collections: Collections,
  sample: HostSample,
  possible: readonly HostRange[],
  limit: number,
  { match, ...span }: MatchingSpan,
): Promise<ResultDocument[]> {
  const found = await Promise.all(possible.map((range) => findHosts(collections, range)));
  const ranges = possible.filter((_, at) => found[at]?.length !== 0);
  const hosts = [...new Set(found.flat())];
  if (hosts.length === 0) return [];
  return pageThrough(limit, span, async (whole, rows) => {
    const window = { ...whole, bounds: { ...whole.bounds, ...match } };
    if (hosts.length <= MERGED_HOSTS) return mergeHosts(collections, hosts, window, rows);
    if (window.isMoment) return walkByTime(collections, ranges, window, rows);
    if (span.after === undefined) {
      const isCommon = (await sample.share(ranges)) >= COMMON_SHARE;
      return isCommon ? walkByTime(collections, ranges, window, rows) : mergeNewest(collections, ranges, window, rows);
    }
    const ids =
      (await walkShortly(collections, ranges, window, rows)) ?? (await sortAll(collections, ranges, window, rows));
    return collections.results
      .find({ _id: { $in: ids } })
      .sort(NEWEST_FIRST)
      .toArray();
  });
}

/** Counts the results whose host is in one of the possible ranges, up to `limit`. Many hosts count as `limit`. */
export async function countByHost(
  collections: Collections,
  ranges: readonly HostRange[],
  limit: number,
): Promise<number> {
  const hosts = await hostsOf(collections, ranges);
  if (hosts.length > MERGED_HOSTS) return limit;
  return collections.results.countDocuments({ host: { $in: hosts } }, { limit, hint: HOST_FIELDS.host.index });
}

async function hostsOf(collections: Collections, ranges: readonly HostRange[]): Promise<string[]> {
  const found = await Promise.all(ranges.map((range) => findHosts(collections, range)));
  return [...new Set(found.flat())];
}

/** Returns the ranges that a host can be in, and that a regular expression can express. */
export function possibleRanges(ranges: readonly HostRange[]): readonly HostRange[] {
  return ranges.filter(({ prefix }) => prefix.length <= MAX_PREFIX && !prefix.includes('\0'));
}

/** Returns the hosts of a range, at most one more than can be merged. */
async function findHosts({ hosts }: Collections, range: HostRange): Promise<readonly string[]> {
  const { inHosts, hostsIndex } = HOST_FIELDS[range.key];
  const found = await hosts
    .find(startsWith(inHosts, range))
    .hint(hostsIndex)
    .project<{ _id: string }>({ _id: 1 })
    .limit(MERGED_HOSTS + 1)
    .toArray();
  return found.map(({ _id }) => _id);
}

function mergeHosts(
  { results }: Collections,
  hosts: readonly string[],
  { bounds, order }: Window,
  limit: number,
): Promise<ResultDocument[]> {
  return results
    .find({ host: { $in: hosts }, ...bounds })
    .hint(HOST_FIELDS.host.index)
    .sort(order)
    .limit(limit)
    .toArray();
}

/** Reads by time until there are enough results, or to the end of the window. */
function walkByTime(
  { results }: Collections,
  ranges: readonly HostRange[],
  { bounds, order }: Window,
  limit: number,
): Promise<ResultDocument[]> {
  return results
    .find({ ...bounds, $and: [{ $or: ranges.map(matching) }] })
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
  ranges: readonly HostRange[],
  window: Window,
  limit: number,
): Promise<ResultDocument[]> {
  let rows: ResultDocument[] = [];
  for (let merged = 0; ; merged += MERGED_HOSTS) {
    const heads = (await newestHosts(collections, ranges, merged + MERGED_HOSTS)).slice(merged);
    const [first] = heads;
    const oldest = rows.length < limit ? undefined : rows.at(-1)?.probed_at;
    if (first === undefined || (oldest !== undefined && first.newest < oldest)) return rows;
    const hosts = heads.map(({ _id }) => _id);
    const bounds = oldest === undefined ? window.bounds : { ...window.bounds, probed_at: { $gte: oldest } };
    const more = await mergeHosts(collections, hosts, { ...window, bounds }, limit);
    rows = [...rows, ...more].sort(newestFirst).slice(0, limit);
  }
}

/** Returns the `count` hosts of the ranges with the newest results, newest first. */
async function newestHosts(
  { hosts }: Collections,
  ranges: readonly HostRange[],
  count: number,
): Promise<readonly HostHead[]> {
  const found = await Promise.all(
    ranges.map((range) => {
      const { inHosts, hostsIndex } = HOST_FIELDS[range.key];
      return hosts
        .find(startsWith(inHosts, range))
        .hint(hostsIndex)
        .project<HostHead>({ _id: 1, newest: 1 })
        .sort({ newest: -1 })
        .limit(count)
        .toArray();
    }),
  );
  const heads = new Map(found.flat().map((head) => [head._id, head]));
  return [...heads.values()].sort((a, b) => b.newest.getTime() - a.newest.getTime()).slice(0, count);
}

/** Returns undefined when the next results contain too few matches. The server reads all of them at once. */
async function walkShortly(
  { results }: Collections,
  ranges: readonly HostRange[],
  { bounds, order }: Window,
  limit: number,
): Promise<number[] | undefined> {
  const walk: Document[] = [
    { $match: bounds },
    { $sort: order },
    { $limit: limit * WALKED_PER_ROW },
    { $match: { $or: ranges.map(matching) } },
    { $limit: limit },
    { $project: { _id: 1 } },
  ];
  const rows = await results.aggregate(walk, { hint: BY_TIME }).toArray();
  return rows.length < limit ? undefined : rows.map(({ _id }) => Number(_id));
}

async function sortAll(
  { results }: Collections,
  ranges: readonly HostRange[],
  { bounds, order }: Window,
  limit: number,
): Promise<number[]> {
  const rows = await Promise.all(
    ranges.map((range) =>
      results
        .find({ ...matching(range), ...bounds })
        .hint(HOST_FIELDS[range.key].index)
        .project<Pick<ResultDocument, '_id' | 'probed_at'>>({ _id: 1, probed_at: 1 })
        .sort(order)
        .limit(limit)
        .allowDiskUse()
        .toArray(),
    ),
  );
  return [
    ...new Set(
      rows
        .flat()
        .sort(newestFirst)
        .map(({ _id }) => _id),
    ),
  ].slice(0, limit);
}

function newestFirst(
  a: Pick<ResultDocument, '_id' | 'probed_at'>,
  b: Pick<ResultDocument, '_id' | 'probed_at'>,
): number {
  return b.probed_at.getTime() - a.probed_at.getTime() || b._id - a._id;
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
