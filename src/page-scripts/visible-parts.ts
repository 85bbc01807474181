import type { Rectangle } from './boxes.ts';
import { around, isHtml, type PageElement, page } from './dom.ts';
import { drawnParts } from './drawn-box.ts';
import { kept } from './kept.ts';
import { type Intersection, web } from './web.ts';

/** Distance from the window up to which the page counts as visible, in CSS pixels: a picture reaches beyond it. */
const BEYOND = 1_000_000;

/** The box of a part that draws an element, and the area in which it is visible; null until that is known. */
export interface VisiblePart {
  readonly box: Rectangle;
  readonly visible: Rectangle | null;
}

type Answer = () => VisiblePart[];

interface Question {
  readonly element: PageElement | null;
  readonly answer: Answer;
}

const NONE: Question = { element: null, answer: () => [] };
const question = () => kept('visible-parts', () => ({ last: NONE }));

/** Notes the element that `visibleParts` is about. */
export function noteElement(element: PageElement): void {
  question().last = { ...NONE, element };
}

/** Returns what is visible of the noted element, as `askVisible` does. */
export function visibleParts(inWindow: boolean): VisiblePart[] {
  const { last } = question();
  if (last.element !== null) question().last = { element: null, answer: askVisible(last.element, inWindow) };
  return question().last.answer();
}

/**
 * Asks the browser what of an element is not cut off by scrollers and other boxes around it, and with `inWindow` by the
 * window. It answers with its next frame.
 */
export function askVisible(element: PageElement, inWindow: boolean): Answer {
  const areas = new Map<PageElement, Rectangle>();
  const note = (entries: readonly Intersection[]) => {
    for (const { target, intersectionRect } of entries) areas.set(target, plain(intersectionRect));
  };
  const observer = new web.IntersectionObserver(note, { root: page, rootMargin: inWindow ? '0px' : `${BEYOND}px` });
  for (const part of drawnParts(element)) observer.observe(observable(part.element));
  return () => {
    // The observer is not called while the scripts of the document are off.
    note(observer.takeRecords());
    if (areas.size > 0) observer.disconnect();
    return drawnParts(element).map(({ element: each, box }) => ({
      box: plain(box),
      visible: areas.get(observable(each)) ?? null,
    }));
  };
}

/** Returns the element, or the drawing around a shape: only boxes of the layout are observed. */
function observable(element: PageElement): PageElement {
  let each = element;
  for (let next = around(each); next !== null && !isHtml(each) && !isHtml(next); next = around(each)) each = next;
  return each;
}

const plain = ({ x, y, width, height }: Rectangle): Rectangle => ({ x, y, width, height });
