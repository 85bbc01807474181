import { type Part, rowOf } from './pixels.ts';

/** Columns of one colour that separate content. Words of a line are closer. */
const MIN_GUTTER = 16;

export interface Columns {
  readonly from: number;
  readonly to: number;
}

/** Returns the columns of content that two parts have in common: what is between gutters of one colour in both. */
export function cutColumns(a: Part, b: Part): readonly Columns[] {
  const isGutter = new Uint8Array(a.width).fill(1);
  const top = rowOf(a, 0);
  for (const part of [a, b]) {
    for (let row = 0; row < part.height; row += 1) {
      const pixels = rowOf(part, row);
      for (let at = 0; at < pixels.length; at += 1) if (pixels[at] !== top[at]) isGutter[at] = 0;
    }
  }
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
