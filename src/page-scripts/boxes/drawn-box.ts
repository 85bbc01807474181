import { composedParent } from '../dom/composed-tree.ts';
import {
  around,
  assigned,
  type Box,
  boxOf,
  checkVisibility,
  isElement,
  isText,
  nameOf,
  nodesOf,
  type PageElement,
  type PageNode,
  page,
  rangeIn,
  shadowOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { around as boxAround, type Rectangle } from './boxes.ts';

/*
 * Visibility, from least to most. In all page scripts an element is
 * - rendered, if its styles do not hide it: it may be empty (`isRendered`);
 * - visible, if it has a box, too, or content that draws it (`isVisible`);
 * - reachable, if scrolling brings it into the window (`signs/seen-texts.ts`);
 * - shown, if it is in the window now (`work/shown.ts`);
 * - painted, if nothing covers it, or cuts it off (`painted/`).
 */

/** Properties that count as hiding an element, besides having no box. */
interface Checks {
  readonly opacityProperty?: boolean;
}

/** Whether an element has no box of its own and is drawn by its content alone: slots, and those the page styles so. */
export const isContents = (element: PageElement): boolean => web.getComputedStyle(element).display === 'contents';

/** Whether an element is rendered and not hidden; one with `display: contents`, whether its own text would be. */
export function isRendered(element: PageElement, checks: Checks = {}): boolean {
  if (checkVisibility(element, { visibilityProperty: true, ...checks })) return true;
  const { display, visibility } = web.getComputedStyle(element);
  if (display !== 'contents' || visibility !== 'visible') return false;
  const boxed = boxedAround(element);
  return boxed !== null && checkVisibility(boxed, checks);
}

/** Returns the box of an element that is visible; null for any other. */
export function visibleBox(element: PageElement, checks: Checks = {}): Rectangle | null {
  const box = boxOf(element);
  if (!isEmpty(box)) return checkVisibility(element, { visibilityProperty: true, ...checks }) ? box : null;
  return isContents(element) ? boxAround([...piecesOf(element, checks)].map(({ box }) => box)) : null;
}

/** Whether an element, or content that draws it, is visible. */
export function isVisible(element: PageElement, checks: Checks = {}): boolean {
  if (!isEmpty(boxOf(element))) return checkVisibility(element, { visibilityProperty: true, ...checks });
  return isContents(element) && piecesOf(element, checks).next().done !== true;
}

/** Returns the parts that draw a visible element: itself, or the content of one with `display: contents`. */
export function drawnParts(element: PageElement): Piece[] {
  return isContents(element) ? [...piecesOf(element)] : [{ element, box: boxOf(element) }];
}

/** Returns the first element with a box that draws this one: itself, one of its content, or the one around its text. */
export function drawnElement(element: PageElement): PageElement {
  if (!isContents(element)) return element;
  for (const { element: piece } of piecesOf(element)) return piece;
  return element;
}

/** A part that draws an element with `display: contents`: an element with a box, or a text. */
export interface Piece {
  readonly element: PageElement;
  readonly box: Box;
}

function* piecesOf(contents: PageElement, checks: Checks = {}): Generator<Piece, void> {
  const stack = drawnIn(contents).toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (isText(node)) {
      const parent = composedParent(node);
      if (!isElement(parent) || !isRendered(parent, checks)) continue;
      const range = rangeIn(page);
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (!isEmpty(box)) yield { element: boxedAround(parent) ?? parent, box };
    } else if (isElement(node)) {
      const box = boxOf(node);
      if (!isEmpty(box)) {
        if (checkVisibility(node, { visibilityProperty: true, ...checks })) yield { element: node, box };
      } else if (isContents(node)) stack.push(...drawnIn(node).toReversed());
    }
  }
}

/** The nodes that are drawn in an element: those of its shadow tree or slot in place of its own. */
export function drawnIn(element: PageElement): PageNode[] {
  const slotted = nameOf(element) === 'slot' ? assigned(element, { flatten: true }) : [];
  return slotted.length > 0 ? slotted : nodesOf(shadowOf(element) ?? element);
}

/** The innermost element around an element with `display: contents` that has a box. */
function boxedAround(element: PageElement): PageElement | null {
  let each = around(element);
  while (each !== null && isContents(each)) each = around(each);
  return each;
}

const isEmpty = ({ width, height }: Box): boolean => width === 0 || height === 0;
