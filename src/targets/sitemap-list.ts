import type { Found } from './found.ts';
import { readXml } from './xml-reader.ts';
import { foreignRoot } from './xml-roots.ts';

/** Finds the pages of a sitemap, or the sitemaps of an index, as lines that name a sitemap to read. */
export function sitemapList(texts: AsyncIterable<string>): AsyncGenerator<readonly Found[], void, undefined> {
  const path: string[] = [];
  return readXml<Found>(texts, {
    open: (element) => {
      path.push(element.name);
      return foreignRoot(element, 'sitemap');
    },
    close: (name, text, line) => {
      path.pop();
      const parent = path.at(-1);
      if (name !== 'loc' || (parent !== 'url' && parent !== 'sitemap')) return [];
      const target = text.trim();
      if (target === '') return [{ line, text: '', reason: 'no_url', problem: null }];
      // The author of a sitemap must not choose networks to scan.
      if (!/^https?:\/\/\S+$/i.test(target)) {
        return [{ line, text: target, reason: 'invalid', problem: 'is no http:// or https:// URL, as sitemaps have' }];
      }
      return [{ line, target: parent === 'url' ? target : `sitemap:${target}` }];
    },
    unfinished: (line) => [{ line, text: '', reason: 'unfinished', problem: 'the sitemap ends in the middle' }],
    broken: (problem, line) => [
      { line, text: '', reason: 'invalid', problem: `is not XML from here on, and was read no further: ${problem}` },
    ],
  });
}
