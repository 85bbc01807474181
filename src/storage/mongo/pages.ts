import { Binary, type Filter } from 'mongodb';
import { hostRanges } from '../hosts.ts';
import { mergePages } from '../records/merge-pages.ts';
import { startOf, timeOf, wantedUrlKeys } from '../records/record.ts';
import { wantedTerms } from '../records/terms.ts';
import type { Keyset, ResultFilter } from '../result-store.ts';
import { pageByHost } from './by-host.ts';
import { BY_TERM, BY_TIME, BY_URL, type Collections } from './collections.ts';
import type { ResultDocument } from './documents.ts';
import type { HostSample } from './host-sample.ts';
import { pageThrough, type Span } from './windows.ts';

/** Returns at most `limit` documents after `after`, newest first. Every query names its index. */
export async function pageOf(
  collections: Collections,
  sample: HostSample,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<ResultDocument[]> {
  const { where = {} } = filter;
  const terms = wantedTerms(where);
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
      return terms.length === 0 ? list({}, BY_TIME) : list({ $and: await rarestFirst(collections, terms) }, BY_TERM);
    case 'url':
      return pageOfUrls(
        wantedUrlKeys(filter).map((key) => list({ url_keys: new Binary(key), ...having(terms) }, BY_URL)),
        limit,
      );
    case 'host':
      return pageByHost(collections, sample, hostRanges(filter.host), limit, { ...span, match: having(terms) });
  }
}

function having(terms: readonly string[]): Filter<ResultDocument> {
  return terms.length === 0 ? {} : { terms: { $all: [...terms] } };
}

/** Maximum count for each term: above it, terms count as equally frequent. */
const COUNTED = 1000;

/** Puts the rarest term first: MongoDB reads its index entries, and compares the documents with the other terms. */
async function rarestFirst({ results }: Collections, terms: readonly string[]): Promise<Filter<ResultDocument>[]> {
  const counts = await Promise.all(
    terms.map(async (term) => ({
      term,
      count: terms.length === 1 ? 0 : await results.countDocuments({ terms: term }, { limit: COUNTED, hint: BY_TERM }),
    })),
  );
  return counts.toSorted((a, b) => a.count - b.count).map(({ term }) => ({ terms: term }));
}

async function pageOfUrls(pages: readonly Promise<ResultDocument[]>[], limit: number): Promise<ResultDocument[]> {
  const rows = (await Promise.all(pages)).map((page) =>
    page.map((document) => ({ id: document._id, probedAt: document.probed_at.getTime(), document })),
  );
  return mergePages(rows, limit).map(({ document }) => document);
}
