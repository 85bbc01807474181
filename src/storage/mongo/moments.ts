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

/** Returns the newest moments of a span, newest first, at most `limit` entries. */
type MomentList = (span: MomentSpan, limit: number) => Promise<readonly number[]>;

/** Number of lists that are compared. Conditions beyond them are compared in the documents. */
const MAX_LISTS = 4;
const STEP_GROWTH = 4;
const MAX_STEP = 10_000;
/** A list with this many times the entries of the shortest is not read: fewer documents are read in its place. */
const MAX_RATIO = 10;
/** Number of entries with a prefix above which they are not sorted, and are compared in the documents. */
const MAX_SORTED = 5000;

/**
 * Iterates over the moments that all lists have, newest first, in steps that become longer. May have some that a long
 * list lacks.
 */
export async function* commonMoments(
  all: readonly MomentList[],
  { from, to: last }: MomentSpan,
  first: number,
): AsyncGenerator<readonly number[]> {
  let lists = all;
  let to = last;
  for (let size = first; to >= from; size = Math.min(size * STEP_GROWTH, MAX_STEP)) {
    const read = await Promise.all(
      lists.map(async (list) => {
        const moments = await list({ from, to }, size);
        return { list, moments, end: moments.length < size ? from : (moments.at(-1) ?? from) };
      }),
    );
    const heads = read.toSorted((a, b) => a.end - b.end || a.moments.length - b.moments.length).slice(0, MAX_LISTS);
    const [rarest, ...others] = heads;
    if (rarest === undefined) return;
    lists = heads.map(({ list }) => list);
    const { end, moments } = rarest;
    const limit = MAX_RATIO * Math.max(moments.length, first);
    const sets = await Promise.all(
      others.map(async (other) => {
        const rest = other.end === end ? [] : await other.list({ from: end, to: other.end }, limit);
        return rest.length < limit ? new Set([...other.moments, ...rest]) : undefined;
      }),
    );
    yield [...new Set(moments)].filter((moment) => sets.every((set) => set?.has(moment) !== false));
    to = end - 1;
  }
}

/** Returns the moments at which there are captures with one of these terms. */
export function momentsOfWord({ words }: Collections, terms: readonly string[]): MomentList {
  const match = { terms: { $in: [...terms] } };
  return (span, limit) => readMoments(words, match, { field: 'moment', index: BY_WORD }, span, limit);
}

/**
 * Returns the moments of captures with a word that begins like one of these; undefined when there are too many. An
 * index has them in no order of time, so all are read.
 */
export async function momentsOfPrefix(
  { words }: Collections,
  terms: Choice,
  { from, to }: MomentSpan,
): Promise<MomentList | undefined> {
  const stages = [
    { $match: { terms: { $in: [...terms] }, moment: { $gte: from, $lte: to } } },
    { $limit: MAX_SORTED },
    { $group: { _id: null, moments: { $push: '$moment' } } },
  ];
  const [found] = await words.aggregate<{ moments: number[] }>(stages, { hint: BY_WORD }).toArray();
  const moments = found?.moments ?? [];
  if (moments.length === MAX_SORTED) return undefined;
  const sorted = moments.sort((a, b) => b - a);
  return async (span, limit) => sorted.filter((one) => one >= span.from && one <= span.to).slice(0, limit);
}

/** Returns the moments of records that meet the conditions other than the words, as far as an index has them. */
export async function momentsOfFacts(collections: Collections, filter: ResultFilter): Promise<readonly MomentList[]> {
  const listOf =
    (match: Document, index: string): MomentList =>
    (span, limit) =>
      readMoments(collections.results, match, { field: 'probed_at', index }, span, limit);
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

/** Entries come in one document, which is read ten times as fast as one document for each. */
async function readMoments<T extends Document>(
  collection: Collection<T>,
  match: Document,
  { field, index }: TimeField,
  { from, to }: MomentSpan,
  limit: number,
): Promise<readonly number[]> {
  const bound = (moment: number) => (field === 'moment' ? moment : new Date(timeOfMoment(moment)));
  const stages = [
    { $match: { ...match, [field]: { $gte: bound(from), $lt: bound(to + 1) } } },
    { $sort: { [field]: -1 } },
    { $limit: limit },
    { $group: { _id: null, moments: { $push: `$${field}` } } },
  ];
  const [found] = await collection
    .aggregate<{ moments: readonly (number | Date)[] }>(stages, { hint: index })
    .toArray();
  return (found?.moments ?? []).map((moment) => (typeof moment === 'number' ? moment : momentOf(moment.getTime())));
}
