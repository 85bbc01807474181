import { meets } from '../boxes/boxes.ts';
import { boxOf, documentOf, type PageText, rangeIn, rectsOf } from '../dom/dom.ts';
import { windowOf } from '../dom/web.ts';
import type { Inside } from './level.ts';
import { boxOfRects, type Sight } from './sight.ts';

/** Number of characters whose place counts as that of a long text. */
const MAX_RANGE = 20_000;

/** Returns how to look at an element. */
export function sightOfElement<Mark>(inside: Inside<Mark>): Sight {
  const { element, boxed, fixed, scroller, frame, isRisky, clips } = inside;
  const [rects, rect] = [() => rectsOf(element), () => boxOf(element)];
  return { parent: element, boxed, rects, rect, fixed, scroller, frame, isElement: true, isRisky, clips };
}

/** Returns how to look at a text of this length. */
export function sightOfText<Mark>(node: PageText, length: number, inside: Inside<Mark>): Sight {
  const { element, boxed, fixed, scroller, frame, isRisky, clips } = inside;
  const range = () => {
    const made = rangeIn(documentOf(node));
    made.selectNodeContents(node);
    if (length > MAX_RANGE) made.setEnd(node, MAX_RANGE);
    return made;
  };
  const rects = () => [...range().getClientRects()];
  const rect = () => range().getBoundingClientRect();
  return { parent: element, boxed, rects, rect, fixed, scroller, frame, isElement: false, isRisky, clips };
}

/** Returns what an item says of its place. */
export function placeOf<Mark>(inside: Inside<Mark>, { rects } = sightOfElement(inside)) {
  const { element, mark, frame, offset } = inside;
  const box = () => {
    const sides = boxOfRects(rects());
    const view = windowOf(documentOf(element));
    if (sides === null || view === null) return null;
    const { left, top, right, bottom } = sides;
    // The size of a window is dear to ask for.
    const isIn = () => meets(sides, { left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight });
    if (frame !== null && !isIn()) return null;
    const [dx, dy] = offset();
    return { x: left + dx, y: top + dy, width: right - left, height: bottom - top };
  };
  return { mark, parent: element, box };
}
