import { setTimeout as delay } from 'node:timers/promises';
import { overHttp } from '../../capture/target.ts';
import type { ScanCaptures } from '../../scans/scan-items.ts';
import type { ResultStore } from '../../storage/ports/result-store.ts';

/** Number of records with a page's URL among which an earlier one of the scan is looked for. */
const MAX_SEARCHED = 20;
/**
 * Time limit for the delivery of records that wait on disk, and the interval at which they are counted, in
 * milliseconds.
 */
const MAX_DELIVERY_MS = 60_000;
const DELIVERY_POLL_MS = 100;

/** The captures of scans, in the store of results. `waiting`: number of records on disk that wait for it. */
export function scanCaptures(
  results: Pick<ResultStore, 'page' | 'records'>,
  remove: (id: number) => Promise<void>,
  waiting: () => number,
): ScanCaptures {
  return {
    find: async (scan, { target }) => {
      const filter = { by: 'url', url: target.url, orUrl: overHttp(target), where: { scan } } as const;
      const urls = [target.parsed.href, URL.parse(overHttp(target) ?? '')?.href];
      const found = await results.page(filter, MAX_SEARCHED);
      // A search by URL also returns captures that were redirected to it.
      return found.find(({ url }) => urls.includes(URL.parse(url)?.href));
    },
    delivered: async () => {
      const until = performance.now() + MAX_DELIVERY_MS;
      while (waiting() > 0 && performance.now() < until) await delay(DELIVERY_POLL_MS);
    },
    sameAs: async ({ id, scan, url, final_url }) => {
      if (scan === undefined || URL.parse(url)?.href === URL.parse(final_url)?.href) return undefined;
      const found = await results.page({ by: 'url', url: final_url, where: { scan } }, MAX_SEARCHED);
      const page = URL.parse(final_url)?.href;
      // Rather the page itself, which may be captured beside this one; else the first that was redirected to it.
      const itself = found.find(
        (each) => each.id !== id && URL.parse(each.url)?.href === page && URL.parse(each.final_url)?.href === page,
      );
      const earlier = found.map((each) => each.id).filter((each) => each < id);
      return itself?.id ?? (earlier.length === 0 ? undefined : Math.min(...earlier));
    },
    records: results.records,
    remove,
  };
}
