import { folded } from '../../words/folded.ts';
import { drawnTextOf, isHtml, page, rootElementOf } from '../dom.ts';

/** Returns the first of the texts that the page shows; null when there is none. */
export function run(texts: readonly string[]): string | null {
  const root = rootElementOf(page);
  const shown = root !== null && isHtml(root) ? folded(drawnTextOf(root)) : '';
  return texts.find((text) => shown.includes(folded(text))) ?? null;
}
