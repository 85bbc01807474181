import { placed } from '../../../words/comparable.ts';
import type { PageElement, PageTree } from './page-tree.ts';

/** Number of characters after the previous match in which a text is searched. Texts not found were not painted. */
const MAX_AHEAD = 5_000;

/**
 * Removes the texts of ignored elements from the painted text. Both are in the order of the page, so the right
 * occurrence of a short text is found.
 */
export function withoutElements(text: string, { texts }: PageTree, ignored: ReadonlySet<PageElement>): string {
  if (ignored.size === 0) return text;
  const { words, places } = placed(text);
  const cuts: (readonly [from: number, to: number])[] = [];
  let cursor = 0;
  for (const [element, { text: beginning, length }] of texts) {
    const at = words.slice(cursor, cursor + MAX_AHEAD).indexOf(beginning);
    if (at < 0) continue;
    const from = cursor + at;
    cursor = from + length;
    if (ignored.has(element)) cuts.push([places[from] ?? text.length, places[cursor] ?? text.length]);
  }
  let [kept, done] = ['', 0];
  for (const [from, to] of cuts) {
    kept += text.slice(done, from);
    done = to;
  }
  return kept + text.slice(done);
}
