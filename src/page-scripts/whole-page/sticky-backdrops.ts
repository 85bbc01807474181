import { meets } from '../boxes/boxes.ts';
import { isContents } from '../boxes/drawn-box.ts';
import { composedParent } from '../dom/composed-tree.ts';
import { type Box, bodyOf, boxOf, childrenOf, isElement, type PageElement, page, rootElementOf } from '../dom/dom.ts';
import { setStyle } from '../dom/set-style.ts';
import { web } from '../dom/web.ts';
import { isOpaque } from './behind-others.ts';

/**
 * Returns the rows in which a sticky element as large as the window stays behind other content: from its place to the
 * end of the element around it. Returns null when nothing is in front of it there, as with slides that stick one after
 * the other, or only what hides it.
 */
export function rowsBehind(element: PageElement, box: Box): { readonly top: number; readonly bottom: number } | null {
  const [around, ...others] = blocksAround(element);
  if (around === undefined || [around, ...others].some(isScroller)) return null;
  const { bottom } = boxOf(around);
  if (bottom <= box.bottom + 1) return null;
  const track = { left: box.left, right: box.right, top: box.top, bottom };
  const inner = new Set([element, around, ...others]);
  const isCovered = [around, ...others].some((each) =>
    childrenOf(each).some((other) => !inner.has(other) && isInFront(other, box, track)),
  );
  return isCovered ? { top: box.top, bottom } : null;
}

/** Makes a sticky element as high as the window, without a change of what is around it. */
export function fillWindow(element: PageElement): void {
  const { top, marginBottom } = web.getComputedStyle(element);
  const more = web.innerHeight - boxOf(element).height;
  if (more <= 0 && Number.parseFloat(top) <= 0) return;
  const margin = `${Number.parseFloat(marginBottom) - more}px`;
  const height = `${web.innerHeight}px`;
  setStyle(element, { top: '0', 'box-sizing': 'border-box', height, ...UNBOUNDED, 'margin-bottom': margin });
}
const UNBOUNDED = { 'min-height': '0', 'max-height': 'none', transition: 'none' };

type Sides = Pick<Box, 'left' | 'right' | 'top' | 'bottom'>;

function isInFront(element: PageElement, box: Sides, track: Sides): boolean {
  const own = boxOf(element);
  if (own.width * own.height === 0 || !meets(own, track)) return false;
  if (/sticky|fixed/.test(web.getComputedStyle(element).position)) return false;
  const hides = own.left <= box.left && own.right >= box.right && isOpaque(element);
  return meets(own, box) || !hides;
}

/** Returns the elements around one that have a box, innermost first. */
function blocksAround(element: PageElement): PageElement[] {
  const all: PageElement[] = [];
  for (let each = composedParent(element); isElement(each); each = composedParent(each)) {
    if (!isContents(each)) all.push(each);
  }
  return all;
}

/** Returns whether what is sticky in an element sticks to it in place of the window. */
function isScroller(element: PageElement): boolean {
  if (element === rootElementOf(page) || element === bodyOf(page)) return false;
  const { overflowX, overflowY } = web.getComputedStyle(element);
  return [overflowX, overflowY].some((value) => value !== 'visible' && value !== 'clip');
}
