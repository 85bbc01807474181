import { Binary, type Filter } from 'mongodb';
import type { Keyset, ResultFilter } from '../ports/result-store.ts';
import { wantedChoices } from '../records/host-terms.ts';
import { hostRanges } from '../records/hosts.ts';
import { startOf, timeOf } from '../records/record.ts';
import { wantedRareHostTerms, wantedTerms } from '../records/terms.ts';
import { wantedUrlKeys } from '../records/url-keys.ts';
import { countByHost, inRanges, matchingHosts, pageByHost, possibleRanges } from './by-host.ts';
import { BY_TERM, BY_TIME, BY_URL, type Collections } from './collections.ts';
import type { ResultDocument } from './documents.ts';
import { mergeDocuments, pageThrough, type Span } from './windows.ts';

/** Returns at most `limit` documents after `after`, newest first. Every query names its index. */
export async function pageOf(
  collections: Collections,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<ResultDocument[]> {
  const { where = {}, ofKey } = filter;
  const terms = wantedTerms(where, ofKey);
  const choices = wantedChoices(where);
  const meeting = having(terms, choices);
  const span: Span = {
    after: startOf(where, after),
    from: where.from === undefined ? undefined : new Date(timeOf(where.from)),
  };
  const list = (match: Filter<ResultDocument>, index: string) =>
    pageThrough(limit, span, (window, rows) =>
      collections.results
        .find({ ...match, ...window.bounds })
        .hint(index)
        .sort(window.order)
        .limit(rows)
        .toArray(),
    );
  switch (filter.by) {
    case 'all':
      if (terms.length + choices.length === 0) return list({}, BY_TIME);
      if (terms.length + choices.length === 1) return list(meeting, BY_TERM);
      return list({ $and: rarestFirst(await counted(collections, [...terms, ...choices], FREQUENT)) }, BY_TERM);
    case 'url':
      return mergeDocuments(
        wantedUrlKeys(filter).map((key) => list({ url_keys: new Binary(key), ...meeting }, BY_URL)),
        limit,
      );
    case 'host': {
      const ranges = possibleRanges(hostRanges(filter.host));
      if (ranges.length === 0) return [];
      const rare = wantedRareHostTerms(where, ranges);
      if (rare !== undefined) {
        const pages = rare.map((term) => list({ $and: [{ terms: term }, meeting, inRanges(ranges)] }, BY_TERM));
        return mergeDocuments(pages, limit);
      }
      const hosts = await matchingHosts(collections, ranges);
      const byHost = () => pageByHost(collections, hosts, limit, { ...span, match: meeting });
      if (terms.length + choices.length === 0) return byHost();
      const [counts, ofHosts] = await Promise.all([
        counted(collections, [...terms, ...choices], RARE),
        countByHost(collections, hosts, RARE),
      ]);
      if (counts.some(({ count }) => count < ofHosts))
        return list({ $and: [...rarestFirst(counts), inRanges(ranges)] }, BY_TERM);
      return byHost();
    }
  }
}

function having(terms: readonly string[], choices: readonly (readonly string[])[]): Filter<ResultDocument> {
  const all = [...terms, ...choices].map(matching);
  return all.length === 0 ? {} : { $and: all };
}

/** A term, or several of which a record must have one. */
type Wanted = string | readonly string[];

function matching(wanted: Wanted): Filter<ResultDocument> {
  return { terms: typeof wanted === 'string' ? wanted : { $in: [...wanted] } };
}

/** Count above which terms are equally frequent. */
const FREQUENT = 1000;
/** Count above which reading all records with a term would take too long: one takes about 10 us. */
const RARE = 5000;

interface CountedTerm {
  readonly wanted: Wanted;
  readonly count: number;
}

/** Counts the records that have each term, or one of several, up to `limit`. */
function counted({ results }: Collections, terms: readonly Wanted[], limit: number): Promise<readonly CountedTerm[]> {
  return Promise.all(
    terms.map(async (wanted) => ({
      wanted,
      count: await results.countDocuments(matching(wanted), { limit, hint: BY_TERM }),
    })),
  );
}

/** Puts the rarest term first: MongoDB reads its index entries, and compares the documents with the other terms. */
function rarestFirst(counts: readonly CountedTerm[]): Filter<ResultDocument>[] {
  return counts.toSorted((a, b) => a.count - b.count).map(({ wanted }) => matching(wanted));
}
