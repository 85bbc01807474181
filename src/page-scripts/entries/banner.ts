import { makeTextsComparable } from '../banner/comparable-texts.ts';
import { BannerSearch, type LoadLibrary, type News } from '../banner/search.ts';

/** Begins a search for a cookie banner. */
export function searchBanner(load: LoadLibrary, config: object, rules: object): BannerSearch {
  makeTextsComparable();
  return new BannerSearch(load, config, rules);
}

/** Resolves with the next news of a search. */
export function nextBannerNews(search: BannerSearch): Promise<News | undefined> {
  return search.next();
}

/** Gives a search the result of a query. */
export function answerBannerQuery(search: BannerSearch, id: string, result: boolean): void {
  search.evaluated(id, result);
}
