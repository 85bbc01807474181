/**
 * Runs in the page. Joins painted items, as `PAINTED` returns them, to plain text; gaps are at most one empty line. The
 * text has no spaces at its ends and at those of its lines.
 */
export const JOIN_TEXT = `(items) => {
  const parts = [];
  let [isAfterSpace, gap] = [true, ''];
  for (const item of items) {
    if (item.gap !== undefined) {
      if (parts.length > 0) gap = item.gap;
      isAfterSpace = true;
      continue;
    }
    if (item.text === undefined) continue;
    const text = isAfterSpace && !item.isPre ? item.text.trimStart() : item.text;
    if (text === '') continue;
    if (gap !== '') parts.push(gap);
    gap = '';
    parts.push(text);
    isAfterSpace = !item.isPre && text.endsWith(' ');
  }
  // Not by looking ahead in the expression, which takes quadratic time for many spaces.
  const isAtEnd = (next) => next === undefined || next === '\\n' || next === '\\t';
  return parts.join('').replace(/ +/g, (run, at, whole) => (isAtEnd(whole[at + run.length]) ? '' : run)).trimEnd();
}`;
