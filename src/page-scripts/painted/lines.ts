import { around, type Rectangle } from '../boxes/boxes.ts';
import { type BoxList, documentOf, isText, type PageNode, rangeIn, textOf } from '../dom/dom.ts';
import { boxOfRects } from './sight.ts';

/** The beginning of a line in a text, and its box. */
export type Line = readonly [start: number, box: Rectangle];

const WORD = /\S+/g;
const SEVERAL_WORDS = /\S\s+\S/;
/** Words are drawn on one line when their middles differ by less than this share of their height. */
const SAME_LINE = 0.5;

/**
 * Divides a text into its lines, by where its words are drawn. `text`: what is seen of the node, with other white
 * space; `box`: its box in the window of the page, which may be another one than that of its document.
 */
export function linesOf(node: PageNode, text: string, box: Rectangle): readonly Line[] {
  const whole: readonly Line[] = [[0, box]];
  if (!isText(node) || !SEVERAL_WORDS.test(text)) return whole;
  const range = rangeIn(documentOf(node));
  range.selectNodeContents(node);
  const rects = range.getClientRects();
  // Most texts are on one line, and each question costs in a new renderer.
  if (rects.length < 2) return whole;
  const all = boxOfRects([...rects]);
  if (all === null) return whole;
  const seen = [...text.matchAll(WORD)];
  const drawn = [...textOf(node).matchAll(WORD)];
  // Words of invisible characters alone are not in the text.
  if (drawn.length !== seen.length) return whole;
  const [dx, dy] = [box.x - all.left, box.y - all.top];
  const rectsOf = (first: number, end: number): BoxList => {
    const [from, to] = [drawn[first], drawn[end - 1]];
    range.setStart(node, from?.index ?? 0);
    range.setEnd(node, to === undefined ? 0 : to.index + to[0].length);
    return range.getClientRects();
  };
  const lines: [number, Rectangle][] = [];
  for (let [first, length] = [0, Math.ceil(drawn.length / rects.length)]; first < drawn.length; first += length) {
    const piece = pieceFrom(first, Math.min(first + length, drawn.length), drawn.length, rectsOf);
    length = piece.end - first;
    const place = boxOfRects([...piece.rects]);
    if (place === null) continue;
    const here = {
      x: place.left + dx,
      y: place.top + dy,
      width: place.right - place.left,
      height: place.bottom - place.top,
    };
    const last = lines.at(-1);
    if (last !== undefined && isOnLine(last[1], here)) last[1] = around([last[1], here]) ?? here;
    else lines.push([first === 0 ? 0 : (seen[first]?.index ?? 0), here]);
  }
  return lines.length === 0 ? whole : lines;
}

/**
 * Returns where the words end that are drawn in one piece with the first, which is most of a line, and their
 * rectangles. `guess`: about there.
 */
function pieceFrom(
  first: number,
  guess: number,
  count: number,
  rectsOf: (first: number, end: number) => BoxList,
): { readonly end: number; readonly rects: BoxList } {
  const upTo = (end: number) => ({ end, rects: rectsOf(first, end) });
  let piece = upTo(guess);
  while (piece.rects.length !== 1 && piece.end > first + 1) piece = upTo(piece.end - 1);
  if (piece.end < guess) return piece;
  while (piece.rects.length === 1 && piece.end < count) {
    const longer = upTo(piece.end + 1);
    if (longer.rects.length !== 1) break;
    piece = longer;
  }
  return piece;
}

function isOnLine(line: Rectangle, word: Rectangle): boolean {
  const distance = Math.abs(line.y + line.height / 2 - (word.y + word.height / 2));
  return distance < SAME_LINE * Math.min(line.height, word.height);
}
