import { type Item, isGap, isWords } from './items.ts';

/**
 * Joins painted items to plain text; gaps are at most one empty line. The text has no spaces at its ends and at those
 * of its lines.
 */
export function joinText<Mark>(items: readonly Item<Mark>[]): string {
  const parts: string[] = [];
  let [isAfterSpace, gap] = [true, ''];
  for (const item of items) {
    if (isGap(item)) {
      if (parts.length > 0) gap = item.gap;
      isAfterSpace = true;
      continue;
    }
    if (!isWords(item)) continue;
    const text = isAfterSpace && !item.isPre ? item.text.trimStart() : item.text;
    if (text === '') continue;
    if (gap !== '') parts.push(gap);
    gap = '';
    parts.push(text);
    isAfterSpace = !item.isPre && text.endsWith(' ');
  }
  // Not by looking ahead in the expression, which takes quadratic time for many spaces.
  const isAtEnd = (next: string | undefined) => next === undefined || next === '\n' || next === '\t';
  return parts
    .join('')
    .replace(/ +/g, (run, at: number, whole: string) => (isAtEnd(whole[at + run.length]) ? '' : run))
    .trimEnd();
}
