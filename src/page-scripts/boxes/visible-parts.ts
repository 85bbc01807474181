import { around, type Box, boxOf, checkVisibility, isHtml, type PageElement, page } from '../dom/dom.ts';
import { type Intersection, web } from '../dom/web.ts';
import { kept } from '../running/kept.ts';
import type { Rectangle } from './boxes.ts';
import { drawnParts, type Piece } from './drawn-box.ts';

/** Distance from the window up to which the page counts as visible, in CSS pixels: a picture reaches beyond it. */
const BEYOND = 1_000_000;

/** The browser rounds what it reports, by less than this many CSS pixels. */
const ROUNDING = 1;

/** Maximum number of questions: a document may draw no frame. */
const MAX_QUESTIONS = 100;

/** The box of a part that draws an element, and the area in which it is visible: the box where that is unknown. */
interface VisiblePart {
  readonly box: Rectangle;
  readonly visible: Rectangle;
}

/** Returns the parts of each element; null while the browser has not yet reported what is visible. */
export type Answer = () => VisiblePart[][] | null;

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

/** Returns what is visible of the noted element, as the answer of `askVisible` does. */
export function visibleParts(inWindow: boolean): VisiblePart[] | null {
  const { last } = question();
  if (last.element !== null) question().last = { element: null, answer: askVisible([last.element], inWindow) };
  return question().last.answer()?.flat() ?? null;
}

/**
 * Asks the browser what of the elements is not cut off by scrollers and other boxes around them, and with `inWindow` by
 * the window. It reports that with its next frame. Parts that appear or grow later count as visible.
 */
export function askVisible(elements: readonly PageElement[], inWindow: boolean): Answer {
  const reports = new Map<PageElement, Intersection>();
  const observed = elements.flatMap((element) => drawnParts(element).map((part) => observable(part.element)));
  const waiting = new Set(observed);
  const note = (entries: readonly Intersection[]) => {
    for (const entry of entries) {
      reports.set(entry.target, entry);
      waiting.delete(entry.target);
    }
  };
  const observer = new web.IntersectionObserver(note, { root: page, rootMargin: inWindow ? '0px' : `${BEYOND}px` });
  for (const each of waiting) observer.observe(each);
  let questions = 0;
  return () => {
    // The observer is not called while the scripts of the document are off.
    note(observer.takeRecords());
    questions += 1;
    if (waiting.size > 0 && questions < MAX_QUESTIONS) return null;
    observer.disconnect();
    return elements.map((element) => drawnParts(element).map((part) => visiblePart(part, reports)));
  };
}

function visiblePart({ element, box }: Piece, reports: ReadonlyMap<PageElement, Intersection>): VisiblePart {
  const observed = observable(element);
  const report = reports.get(observed);
  const area = report && areaNow(report, boxOf(observed));
  const isWhole = area === undefined || (report?.isIntersecting && isSkipped(element));
  return { box: plain(box), visible: isWhole ? plain(box) : area };
}

/** Returns the visible area of an element that has this box now; undefined when it has grown since the report. */
function areaNow(
  { intersectionRect: area, boundingClientRect: before }: Intersection,
  now: Box,
): Rectangle | undefined {
  if (now.width - before.width >= ROUNDING || now.height - before.height >= ROUNDING) return undefined;
  return { ...plain(area), x: area.x + now.x - before.x, y: area.y + now.y - before.y };
}

/**
 * Returns the nearest box of the layout, which alone is observed: around a shape it is the drawing, around content that
 * the browser skips it is the element that has this content.
 */
function observable(element: PageElement): PageElement {
  let each = element;
  for (let next = around(each); next !== null; next = around(each)) {
    if (!isSkipped(each) && (isHtml(each) || isHtml(next))) return each;
    each = next;
  }
  return each;
}

/** Whether the browser skips an element until it is near the window: `content-visibility: auto`. */
const isSkipped = (element: PageElement): boolean =>
  !checkVisibility(element, { contentVisibilityAuto: true }) && checkVisibility(element);

const plain = ({ x, y, width, height }: Rectangle): Rectangle => ({ x, y, width, height });
