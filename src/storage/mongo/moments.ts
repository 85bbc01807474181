import { Binary, type Collection, type Document } from 'mongodb';
import type { ResultFilter } from '../ports/result-store.ts';
import { hostRanges } from '../records/hosts.ts';
import { wantedTerms } from '../records/terms.ts';
import { wantedUrlKeys } from '../records/url-keys.ts';
import { MERGED_HOSTS, matchingHosts, possibleRanges } from './by-host.ts';
import { BY_TERM, BY_URL, BY_WORD, type Collections, HOST_FIELDS } from './collections.ts';
import { momentOf, timeOfMoment } from './documents.ts';
import type { Choice } from './words-filter.ts';

/*
 * Lists of the moments at which there are captures with a term, and the moments that several lists have in common. They
 * are read from indexes alone, because reading a document takes as long as reading 20 entries. Captures that share a
 * moment are told apart by their documents later.
 */

/** The first and the last moment, both included. */
export interface MomentSpan {
  readonly from: number;
  readonly to: number;
}

/** The newest moments of a list in a span, newest first, none missing from `end` on. */
interface Head {
  readonly moments: readonly number[];
  readonly end: number;
}

interface MomentList {
  /** Set when all moments of a span must be read to know the newest one. */
  readonly isUnordered?: boolean;
  /** Reads the newest moments of a span, at most `limit` entries. */
  newest(span: MomentSpan, limit: number): Promise<Head>;
  /** Looks up which of these moments the list has. Left out where reading the documents costs less. */
  readonly among?: (moments: readonly number[]) => Promise<readonly number[]>;
}

/** Number of lists that are compared. Conditions beyond them are compared in the documents. */
const MAX_LISTS = 4;
const STEP_GROWTH = 4;
const MAX_STEP = 10_000;
/** Neighbouring entries that are read in the time in which one moment is looked up. */
const ENTRIES_PER_LOOKUP = 4;
/** Neighbouring entries that are read in less time than the documents of one moment. */
const ENTRIES_PER_DOCUMENT = 10;
/** Number of entries with a prefix above which they are not sorted. */
const MAX_SORTED = 5000;

/** A list, as far as it is known. */
interface KnownList {
  readonly list: MomentList;
  readonly head: Head;
  /** Entries for each moment, as many as there were among those read last. */
  readonly frequency: number;
}

/**
 * Iterates over the moments that all lists have, newest first. After `first` entries of each, only the rarest list is
 * read on, in steps as long as it takes to find the `wanted` number. May have some that a frequent list lacks.
 */
export async function* commonMoments(
  all: readonly MomentList[],
  { from, to: last }: MomentSpan,
  first: number,
  wanted: number,
): AsyncGenerator<readonly number[]> {
  let lists = (await headsOf(all, { from, to: last }, first)).slice(0, MAX_LISTS);
  for (let size = first; ; ) {
    const [rarest, ...others] = lists;
    if (rarest === undefined) return;
    let found: readonly number[] = [...new Set(rarest.head.moments)];
    for (const other of others) found = await thoseOf(other, found);
    yield found;
    const to = rarest.head.end - 1;
    if (to < from) return;
    const growth = found.length < wanted ? wanted / Math.max(found.length, 1) : STEP_GROWTH;
    size = Math.min(Math.ceil(size * growth), MAX_STEP);
    const [next = rarest, ...rest] = lists.toSorted(byFrequency);
    const head = await next.list.newest({ from, to }, size);
    const frequency = frequencyOf(head, to);
    lists = [{ ...next, head, frequency }, ...rest.map((list) => ({ ...list, head: unread(to) }))];
  }
}

/** Reads the newest moments of lists, the rarest list first. */
async function headsOf(all: readonly MomentList[], span: MomentSpan, limit: number): Promise<readonly KnownList[]> {
  const read = await Promise.all(
    all.map(async (list) => ({ list, head: list.isUnordered ? unread(span.to) : await list.newest(span, limit) })),
  );
  const newest = Math.max(span.from, ...read.flatMap(({ head }) => head.moments.slice(0, 1)));
  return read.map((each) => ({ ...each, frequency: frequencyOf(each.head, newest) })).sort(byFrequency);
}

const unread = (to: number): Head => ({ moments: [], end: to + 1 });

function frequencyOf({ moments, end }: Head, newest: number): number {
  return moments.length / Math.max(newest - end + 1, 1);
}

function byFrequency(a: KnownList, b: KnownList): number {
  return Number(a.list.isUnordered ?? false) - Number(b.list.isUnordered ?? false) || a.frequency - b.frequency;
}

/**
 * Returns the moments that a list has, too. Older ones than those of its head are looked up, or all entries between
 * them are read, by what takes less time.
 */
async function thoseOf({ list, head, frequency }: KnownList, moments: readonly number[]): Promise<readonly number[]> {
  const before = (end: number) => moments.filter((moment) => moment < end);
  const older = before(head.end);
  const oldest = older.at(-1);
  if (oldest === undefined) return common(moments, head.moments);
  const limit = older.length * (list.among === undefined ? ENTRIES_PER_DOCUMENT : ENTRIES_PER_LOOKUP);
  const rest =
    frequency * (head.end - oldest) > limit
      ? unread(head.end - 1)
      : await list.newest({ from: oldest, to: head.end - 1 }, limit);
  const unknown = before(rest.end);
  const lookedUp = unknown.length === 0 || list.among === undefined ? unknown : await list.among(unknown);
  return common(moments, [...head.moments, ...rest.moments, ...lookedUp]);
}

function common(moments: readonly number[], others: readonly number[]): readonly number[] {
  const set = new Set(others);
  return moments.filter((moment) => set.has(moment));
}

/** Returns the moments at which there are captures with one of these terms. */
export function momentsOfWord({ words }: Collections, terms: readonly string[]): MomentList {
  const having = { terms: { $in: [...terms] } };
  const time: TimeField = { field: 'moment', index: BY_WORD };
  return {
    ...listIn(words, having, time),
    among: (moments) => readTogether(words, [{ $match: { ...having, moment: { $in: [...moments] } } }], time),
  };
}

/**
 * Returns the moments of captures with a word that begins like one of these. An index has them in no order of time. So
 * they are sorted, or, when there are too many, read only between the moments of other lists.
 */
export async function momentsOfPrefix({ words }: Collections, terms: Choice, whole: MomentSpan): Promise<MomentList> {
  const within = ({ from, to }: MomentSpan, limit: number) => {
    const match = { terms: { $in: [...terms] }, moment: { $gte: from, $lte: to } };
    return readTogether(words, [{ $match: match }, { $limit: limit }], { field: 'moment', index: BY_WORD });
  };
  const all = await within(whole, MAX_SORTED);
  if (all.length === MAX_SORTED) {
    return {
      isUnordered: true,
      async newest(span, limit) {
        const moments = await within(span, limit);
        return moments.length === limit ? { moments: [], end: span.to + 1 } : { moments, end: span.from };
      },
    };
  }
  const sorted = all.toSorted((a, b) => b - a);
  return {
    newest: async ({ from, to }, limit) =>
      headOf(sorted.filter((one) => one >= from && one <= to).slice(0, limit), from, limit),
    among: async () => sorted,
  };
}

/** Returns the moments of records that meet the conditions other than the words, as far as an index has them. */
export async function momentsOfFacts(collections: Collections, filter: ResultFilter): Promise<readonly MomentList[]> {
  const listOf = (match: Document, index: string) => listIn(collections.results, match, { field: 'probed_at', index });
  const hosts = await hostsOf(collections, filter);
  const urls = filter.by === 'url' ? wantedUrlKeys(filter).map((key) => new Binary(key)) : [];
  return [
    ...wantedTerms(filter.where ?? {}, filter.ofKey).map((terms) => listOf({ terms }, BY_TERM)),
    ...(hosts === undefined ? [] : [listOf({ host: { $in: hosts } }, HOST_FIELDS.host.index)]),
    ...(urls.length > 0 ? [listOf({ url_keys: { $in: urls } }, BY_URL)] : []),
  ];
}

/** Returns the hosts that a filter names; undefined when it names none, or more than can be merged. */
async function hostsOf(collections: Collections, filter: ResultFilter): Promise<readonly string[] | undefined> {
  if (filter.by !== 'host') return undefined;
  const { hosts } = await matchingHosts(collections, possibleRanges(hostRanges(filter.host)));
  return hosts.length > MERGED_HOSTS ? undefined : hosts;
}

interface TimeField {
  readonly field: 'moment' | 'probed_at';
  readonly index: string;
}

/** A list whose entries an index has in the order of time. */
function listIn<T extends Document>(collection: Collection<T>, match: Document, time: TimeField): MomentList {
  const bound = (moment: number) => (time.field === 'moment' ? moment : new Date(timeOfMoment(moment)));
  return {
    async newest({ from, to }, limit) {
      const stages = [
        { $match: { ...match, [time.field]: { $gte: bound(from), $lt: bound(to + 1) } } },
        { $sort: { [time.field]: -1 } },
        { $limit: limit },
      ];
      return headOf(await readTogether(collection, stages, time), from, limit);
    },
  };
}

function headOf(moments: readonly number[], from: number, limit: number): Head {
  return { moments, end: moments.length < limit ? from : (moments.at(-1) ?? from) };
}

/** Entries come in one document, which is read ten times as fast as one document for each. */
async function readTogether<T extends Document>(
  collection: Collection<T>,
  stages: readonly Document[],
  { field, index }: TimeField,
): Promise<readonly number[]> {
  const [found] = await collection
    .aggregate<{ moments: readonly (number | Date)[] }>(
      [...stages, { $group: { _id: null, moments: { $push: `$${field}` } } }],
      { hint: index },
    )
    .toArray();
  return (found?.moments ?? []).map((moment) => (typeof moment === 'number' ? moment : momentOf(moment.getTime())));
}
