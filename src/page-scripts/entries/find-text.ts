import { drawnTextOf, isHtml, page, rootElementOf } from '../dom.ts';

/** Returns the first of the texts that the page shows; null when there is none. */
export function run(texts: readonly string[]): string | null {
  const root = rootElementOf(page);
  const shown = root !== null && isHtml(root) ? plain(drawnTextOf(root)) : '';
  return texts.find((text) => shown.includes(plain(text))) ?? null;
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}
