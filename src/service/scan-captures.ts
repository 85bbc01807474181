import { overHttp } from '../capture/target.ts';
import type { ScanCaptures } from '../scans/scan-elements.ts';
import type { ResultStore } from '../storage/ports/result-store.ts';

/** Number of records with a page's URL among which an earlier one of the scan is looked for. */
const MAX_SEARCHED = 20;

/** The captures of scans, in the store of results. */
export function scanCaptures(
  results: Pick<ResultStore, 'page' | 'records'>,
  remove: (id: number) => Promise<void>,
): ScanCaptures {
  return {
    find: async (scan, { target }) => {
      const filter = { by: 'url', url: target.url, orUrl: overHttp(target), where: { scan } } as const;
      const urls = [target.parsed.href, URL.parse(overHttp(target) ?? '')?.href];
      const found = await results.page(filter, MAX_SEARCHED);
      // A search by URL also returns captures that were redirected to it.
      return found.find(({ url }) => urls.includes(URL.parse(url)?.href));
    },
    sameAs: async ({ id, scan, url, final_url }) => {
      if (scan === undefined || URL.parse(url)?.href === URL.parse(final_url)?.href) return undefined;
      const found = await results.page({ by: 'url', url: final_url, where: { scan } }, MAX_SEARCHED);
      const earlier = found.map((each) => each.id).filter((each) => each < id);
      return earlier.length === 0 ? undefined : Math.min(...earlier);
    },
    records: results.records,
    remove,
  };
}
