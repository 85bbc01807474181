import type { Rectangle } from '../boxes/boxes.ts';
import { type Item, isGap, isWords, type Words } from './items.ts';
import { linesOf } from './lines.ts';

/** A text, and where in it the parts begin that have a box in the window, in CSS pixels. */
export interface PlacedText {
  readonly text: string;
  readonly places: readonly (readonly [start: number, box: Rectangle | null])[];
}

/** Joins the texts of a page, with one character of white space in each gap, up to a number of characters. */
export function joinPlaced<Mark>(items: readonly Item<Mark>[], maxCharacters: number): PlacedText {
  const places: [number, Rectangle | null][] = [];
  let text = '';
  let isAfterSpace = true;
  for (const item of items) {
    if (text.length >= maxCharacters) break;
    if (isGap(item)) {
      if (!isAfterSpace) text += '\n';
      isAfterSpace = true;
    } else if (isWords(item)) {
      const words = isAfterSpace ? item.text.trimStart() : item.text;
      if (words === '') continue;
      if (!item.isBlank) {
        const skipped = item.text.length - words.length;
        for (const [start, box] of placesOf(item)) places.push([text.length + Math.max(0, start - skipped), box]);
      }
      text += words;
      isAfterSpace = /\s$/.test(words);
    }
  }
  return {
    text: text.slice(0, maxCharacters).trimEnd().toWellFormed(),
    places: places.filter(([start]) => start < maxCharacters),
  };
}

function placesOf<Mark>({ node, text, box: find }: Words<Mark>): readonly (readonly [number, Rectangle | null])[] {
  const box = find();
  return node === null || box === null ? [[0, box]] : linesOf(node, text, box);
}
