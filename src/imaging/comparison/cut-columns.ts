import { type Part, rowOf } from './pixels.ts';

/** Columns of one colour that separate content. Words of a line are closer. */
const MIN_GUTTER = 16;

export interface Columns {
  readonly from: number;
  readonly to: number;
}

/** Returns the columns of content that two parts have in common: what is between gutters of one colour in both. */
export function cutColumns(a: Part, b: Part): readonly Columns[] {
  const isGutter = gutters(a, b);
  const found: Columns[] = [];
  let blank = MIN_GUTTER;
  for (let at = 0; at < a.width; at += 1) {
    if (isGutter[at] === 1) {
      blank += 1;
      continue;
    }
    const last = found.at(-1);
    if (last === undefined || blank >= MIN_GUTTER) found.push({ from: at, to: at + 1 });
    else found[found.length - 1] = { from: last.from, to: at + 1 };
    blank = 0;
  }
  return found;
}

/** Returns 1 for each column of one colour, the same in both parts. Most columns drop out after a few rows. */
function gutters(a: Part, b: Part): Uint8Array {
  const top = rowOf(a, 0).slice();
  const left = Uint32Array.from(top.keys());
  let count = left.length;
  for (const part of [a, b]) {
    for (let row = 0; row < part.height && count > 0; row += 1) {
      const pixels = rowOf(part, row);
      let kept = 0;
      for (let at = 0; at < count; at += 1) {
        const column = left[at] ?? 0;
        if (pixels[column] !== top[column]) continue;
        left[kept] = column;
        kept += 1;
      }
      count = kept;
    }
  }
  const isGutter = new Uint8Array(a.width);
  for (const column of left.subarray(0, count)) isGutter[column] = 1;
  return isGutter;
}
