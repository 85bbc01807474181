import { comparable } from '../../words/comparable.ts';
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

/**
 * Makes what elements say comparable for the scripts of this world: a library that looks for words in it knows nothing
 * of soft hyphens and no-break spaces.
 */
function makeTextsComparable(): void {
  const element: unknown = Reflect.get(globalThis, 'HTMLElement');
  if (typeof element !== 'function') return;
  const own = Reflect.getOwnPropertyDescriptor(element.prototype, 'innerText');
  const read = own?.get;
  if (read === undefined) return;
  Reflect.defineProperty(element.prototype, 'innerText', {
    ...own,
    get(): string {
      const lines = String(Reflect.apply(read, this, [])).split('\n');
      return lines.map(comparable).join('\n');
    },
  });
}
