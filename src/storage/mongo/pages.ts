import { Binary, type Filter } from 'mongodb';
import type { Result } from '../../capture/result.ts';
import { type Keyset, keysetOf, type ResultFilter } from '../ports/result-store.ts';
import { hostRanges } from '../records/hosts.ts';
import { startOf, timeOf } from '../records/record.ts';
import { wantedRareHostTerms, wantedTerms } from '../records/terms.ts';
import { wantedUrlKeys } from '../records/url-keys.ts';
import { HAS_WORDS } from '../records/word-terms.ts';
import { countByHost, inRanges, matchingHosts, pageByHost, possibleRanges } from './by-host.ts';
import { BY_TERM, BY_TIME, BY_URL, type Collections } from './collections.ts';
import { type ResultDocument, recordOf } from './documents.ts';
import { mergeDocuments, pageThrough, type Span } from './windows.ts';
import { type WordsFilter, withPhrases, wordsFilter } from './words.ts';

/** Results of which phrases are looked for together, at most. */
const MAX_LOOKED_THROUGH = 400;

/** Returns at most `limit` records after `after`, newest first. */
export async function pageOf(
  collections: Collections,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<readonly Result[]> {
  const words = wordsFilter(filter.where?.words);
  const read = async (rows: number, from: Keyset | undefined) =>
    (await documentsOf(collections, filter, words, rows, from)).map(recordOf);
  if (words.phrases === undefined) return read(limit, after);
  const found: Result[] = [];
  let together = Math.min(limit, MAX_LOOKED_THROUGH);
  for (let from = after; ; ) {
    const candidates = await read(together, from);
    found.push(...(await withPhrases(collections, words.phrases, candidates)));
    const last = candidates.at(-1);
    if (found.length >= limit || last === undefined || candidates.length < together) return found.slice(0, limit);
    from = keysetOf(last);
    together = Math.min(together * 2, MAX_LOOKED_THROUGH);
  }
}

/** Returns the documents of a page, without regard to phrases. Every query names its index. */
async function documentsOf(
  collections: Collections,
  filter: ResultFilter,
  words: WordsFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<ResultDocument[]> {
  const { where = {}, ofKey } = filter;
  const terms = [...wantedTerms(where, ofKey), ...words.terms];
  const span: Span = {
    after: startOf(where, after),
    from: where.from === undefined ? undefined : new Date(timeOf(where.from)),
  };
  const list = (match: Filter<ResultDocument>, index: string) =>
    pageThrough(limit, span, (window, rows) =>
      collections.results
        .find(all([match, window.bounds, ...words.more]))
        .hint(index)
        .sort(window.order)
        .limit(rows)
        .toArray(),
    );
  switch (filter.by) {
    case 'all':
      if (terms.length === 0 && words.prefixes.length > 0)
        return list(await rareOrAll(collections, words.prefixes), BY_TERM);
      if (terms.length === 0) return list({}, BY_TIME);
      if (terms.length === 1) return list(having(terms), BY_TERM);
      return list({ $and: rarestFirst(await counted(collections, terms, FREQUENT)) }, BY_TERM);
    case 'url':
      return mergeDocuments(
        wantedUrlKeys(filter).map((key) => list({ url_keys: new Binary(key), ...having(terms) }, BY_URL)),
        limit,
      );
    case 'host': {
      const ranges = possibleRanges(hostRanges(filter.host));
      if (ranges.length === 0) return [];
      const rare = wantedRareHostTerms(where, ranges);
      if (rare !== undefined) {
        const pages = rare.map((term) => list(all([{ terms: term }, having(terms), inRanges(ranges)]), BY_TERM));
        return mergeDocuments(pages, limit);
      }
      const hosts = await matchingHosts(collections, ranges);
      const match = all([having(terms), ...words.more]);
      const byHost = () => pageByHost(collections, hosts, limit, { ...span, match });
      if (terms.length === 0) return byHost();
      const [counts, ofHosts] = await Promise.all([
        counted(collections, terms, RARE),
        countByHost(collections, hosts, RARE),
      ]);
      if (counts.some(({ count }) => count < ofHosts))
        return list({ $and: [...rarestFirst(counts), inRanges(ranges)] }, BY_TERM);
      return byHost();
    }
  }
}

/** Reads the few results with a rare prefix and sorts them; with frequent ones, matching results are among the newest. */
async function rareOrAll({ results }: Collections, prefixes: readonly RegExp[]): Promise<Filter<ResultDocument>> {
  for (const terms of prefixes) {
    if ((await results.countDocuments({ terms }, { limit: RARE, hint: BY_TERM })) < RARE) return { terms };
  }
  return having([HAS_WORDS]);
}

function all(filters: readonly Filter<ResultDocument>[]): Filter<ResultDocument> {
  const given = filters.filter((filter) => Object.keys(filter).length > 0);
  const [first = {}, ...others] = given;
  return others.length === 0 ? first : { $and: given };
}

function having(terms: readonly string[]): Filter<ResultDocument> {
  return terms.length === 0 ? {} : { terms: { $all: [...terms] } };
}

/** Count above which terms are equally frequent. */
const FREQUENT = 1000;
/** Count above which reading all records with a term would take too long: one takes about 10 us. */
const RARE = 5000;

interface CountedTerm {
  readonly term: string;
  readonly count: number;
}

/** Counts the records that have each term, up to `limit`. */
function counted({ results }: Collections, terms: readonly string[], limit: number): Promise<readonly CountedTerm[]> {
  return Promise.all(
    terms.map(async (term) => ({
      term,
      count: await results.countDocuments({ terms: term }, { limit, hint: BY_TERM }),
    })),
  );
}

/** Puts the rarest term first: MongoDB reads its index entries, and compares the documents with the other terms. */
function rarestFirst(counts: readonly CountedTerm[]): Filter<ResultDocument>[] {
  return counts.toSorted((a, b) => a.count - b.count).map(({ term }) => ({ terms: term }));
}
