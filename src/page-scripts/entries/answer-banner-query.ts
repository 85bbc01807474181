import type { BannerSearch } from '../banner/search.ts';

/** Gives a search the result of a query. */
export function run(search: BannerSearch, id: string, result: boolean): void {
  search.evaluated(id, result);
}
