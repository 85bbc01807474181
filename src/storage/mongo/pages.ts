import { Binary, type Filter } from 'mongodb';
import { hostRanges } from '../hosts.ts';
import { mergePages } from '../records/merge-pages.ts';
import { wantedUrlKeys } from '../records/record.ts';
import type { Keyset, ResultFilter } from '../result-store.ts';
import { pageByHost } from './by-host.ts';
import { BY_TIME, BY_URL, type Collections } from './collections.ts';
import type { ResultDocument } from './documents.ts';
import type { HostSample } from './host-sample.ts';
import { pageThrough } from './windows.ts';

/** Returns at most `limit` documents after `after`, newest first. Chooses every plan by naming its index. */
export function pageOf(
  collections: Collections,
  sample: HostSample,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<ResultDocument[]> {
  const list = (match: Filter<ResultDocument>, index: string) =>
    pageThrough(limit, after, (window, rows) =>
      collections.results
        .find({ ...match, ...window.bounds })
        .hint(index)
        .sort(window.order)
        .limit(rows)
        .toArray(),
    );
  switch (filter.by) {
    case 'all':
      return list({}, BY_TIME);
    case 'url':
      return pageOfUrls(
        wantedUrlKeys(filter).map((key) => list({ url_keys: new Binary(key) }, BY_URL)),
        limit,
      );
    case 'host':
      return pageByHost(collections, sample, hostRanges(filter.host), limit, after);
  }
}

async function pageOfUrls(pages: readonly Promise<ResultDocument[]>[], limit: number): Promise<ResultDocument[]> {
  const rows = (await Promise.all(pages)).map((page) =>
    page.map((document) => ({ id: document._id, probedAt: document.probed_at.getTime(), document })),
  );
  return mergePages(rows, limit).map(({ document }) => document);
}
