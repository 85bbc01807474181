import type { BannerSearch, News } from '../banner/search.ts';

/** Resolves with the next news of a search. */
export function run(search: BannerSearch): Promise<News | undefined> {
  return search.next();
}
