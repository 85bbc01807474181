import { type Rows, rowsBeforeFixed } from '../behind-scrolling.ts';
import { bodyOf, type PageElement, page, rootElementOf, select } from '../dom.ts';
import { endTransitions } from '../end-transitions.ts';
import { keepLooks } from '../scrolled/keep-looks.ts';
import { setStyle } from '../set-style.ts';
import { web } from '../web.ts';

/**
 * Renders what `content-visibility: auto` skips outside the window, scrolls to the top, keeps the looks that were seen
 * while scrolling, and lets no transition begin. Returns whether the page scrolls sideways, its number of elements, and
 * the rows that look otherwise when the page is scrolled to them.
 */
export function run(): { scrollsSideways: boolean; elements: number; beforeFixed: Rows[] } {
  const elements = select(page, '*');
  for (const element of elements) {
    if (web.getComputedStyle(element).contentVisibility !== 'auto') continue;
    setStyle(element, { 'content-visibility': 'visible' });
  }
  web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
  keepLooks();
  endTransitions();
  return { scrollsSideways: scrollsSideways(), elements: elements.length, beforeFixed: rowsBeforeFixed() };
}

/** The root's overflow applies to the window, or else the body's. */
function scrollsSideways(): boolean {
  const overflowOf = (element: PageElement | null) =>
    element === null ? 'visible' : web.getComputedStyle(element).overflowX;
  const overflow = [rootElementOf(page), bodyOf(page)].map(overflowOf).find((each) => each !== 'visible');
  return overflow !== 'hidden' && overflow !== 'clip';
}
