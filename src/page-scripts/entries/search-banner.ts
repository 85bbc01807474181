import { makeTextsComparable } from '../banner/comparable-texts.ts';
import { BannerSearch, type LoadLibrary } from '../banner/search.ts';

/** Begins a search for a cookie banner. */
export function run(load: LoadLibrary, config: object, rules: object): BannerSearch {
  makeTextsComparable();
  return new BannerSearch(load, config, rules);
}
