import type { SelectorStep } from '../../capture/comparison/selector.ts';
import { drawnElement, isVisible } from '../boxes/drawn-box.ts';
import { noteElement } from '../boxes/visible-parts.ts';
import {
  around,
  bodyOf,
  isFrame,
  type PageElement,
  page,
  rootElementOf,
  scrollElementBy,
  scrollIntoView,
} from '../dom/dom.ts';
import { elementsBy, firstBy } from '../dom/find.ts';
import { web } from '../dom/web.ts';

const NEAREST = { block: 'nearest', inline: 'nearest', behavior: 'instant' } as const;

/** Returns whether `firstBy` finds a visible element; null when it finds none at all. */
export function firstMatchIsVisible(steps: readonly SelectorStep[]): boolean | null {
  const element = firstBy(steps);
  return element && isVisible(element);
}

/** Returns whether a visible element matches a selector. */
export function hasVisibleMatch(steps: readonly SelectorStep[]): boolean {
  return elementsBy(steps).some((element) => isVisible(element));
}

/**
 * Scrolls the containers of the page to the first visible match with index `from` or higher, and the page to its top.
 * Returns the index. `visibleParts` tells where the match is, and whether boxes around it cut it off.
 */
export function findVisible(
  steps: readonly SelectorStep[],
  from: number,
  isFrame: boolean,
): 'absent' | 'invisible' | number {
  const matching = elementsBy(steps);
  if (matching.length === 0) return 'absent';
  for (const [at, element] of matching.entries()) {
    if (at < from || !isVisible(element)) continue;
    reveal(drawnElement(element), isFrame);
    if (!isFrame) web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
    noteElement(element);
    if (isVisible(element)) return at;
  }
  return 'invisible';
}

/** Returns the elements of frames that match a selector, at most this number. */
export function findFrames(steps: readonly SelectorStep[], max: number): PageElement[] {
  return elementsBy(steps).filter(isFrame).slice(0, max);
}

/** Scrolls to an element and returns whether it is visible. `visibleParts` tells where it is. */
export function revealElement(element: PageElement, isFrame: boolean): boolean {
  reveal(element, isFrame);
  noteElement(element);
  return isVisible(element);
}

/**
 * Scrolls the element that `firstBy` finds by this way; returns whether there is one. Scrolls instantly, even where the
 * style sheet sets smooth scrolling: the next step could not tell when that ends.
 */
export function scrollElement(steps: readonly SelectorStep[], left: number, top: number): boolean {
  const element = firstBy(steps);
  if (element !== null) scrollElementBy(element, { left, top, behavior: 'instant' });
  return element !== null;
}

/**
 * Scrolls what scrolls around an element to it. In a frame, documents around its own stay: those of other processes
 * would be scrolled at any later time. The document of the page stays, too: scripts change pages that are scrolled.
 */
function reveal(element: PageElement, isFrame: boolean): void {
  for (let each: PageElement | null = element; each !== null; ) {
    const scroller = scrollerAround(each);
    if (scroller !== null || isFrame) scrollIntoView(each, { ...NEAREST, container: 'nearest' });
    each = scroller;
  }
}

/** Returns the nearest element that scrolls what is in it; null for the document. */
function scrollerAround(element: PageElement): PageElement | null {
  let each = around(element);
  while (each !== null && !isScroller(each)) each = around(each);
  return each;
}

function isScroller(element: PageElement): boolean {
  const [root, body] = [rootElementOf(page), bodyOf(page)];
  if (root === null || element === root) return false;
  const overflowOf = (each: PageElement) => web.getComputedStyle(each).overflow;
  // The overflow of the body is that of the window where the root has none.
  if (element === body && overflowOf(root) === 'visible') return false;
  return /auto|scroll|hidden/.test(overflowOf(element));
}
