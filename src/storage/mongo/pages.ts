import type { Filter } from 'mongodb';
import { hostRanges } from '../hosts.ts';
import type { Keyset, ResultFilter } from '../result-store.ts';
import { pageByHost } from './by-host.ts';
import { BY_TIME, BY_URL, type Collections } from './collections.ts';
import { binaryKey, type ResultDocument } from './documents.ts';
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
      return list({ url_key: binaryKey(filter.url), url: filter.url }, BY_URL);
    case 'host':
      return pageByHost(collections, sample, hostRanges(filter.host), limit, after);
  }
}
