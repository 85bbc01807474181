import { web } from '../dom/web.ts';
import { mainScroller } from '../scrolled/main-scroller.ts';
import { notePopups } from '../scrolled/popups.ts';
import { scrolled } from '../scrolled/state.ts';
import { refix, unfix } from '../whole-page/unfix.ts';

/**
 * Begins to observe a page that is going to be scrolled. Returns whether an element scrolls in place of the document.
 */
export function observeScrolling(): boolean {
  return scrolled().scroller !== null;
}

/** Returns whether an element scrolls in place of the document. */
export function hasScroller(): boolean {
  return mainScroller() !== null;
}

/** Scrolls the window by this many CSS pixels. */
export function scrollBy(left: number, top: number): void {
  web.scrollBy({ left, top, behavior: 'instant' });
}

/** Scrolls the window to the top of the page, and returns where it is then. */
export function scrollToTop(): { x: number; y: number } {
  web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
  return { x: web.scrollX, y: web.scrollY };
}

/**
 * Scrolls to a part that the window does not show at its top, and back to the top for others. Fixed and sticky elements
 * stay where they are.
 */
export function scrollTallWindow(top: number, height: number): void {
  const isFirst = top + height <= web.innerHeight;
  if (!isFirst) unfix();
  const middle = Math.round(top - (web.innerHeight - height) / 2);
  web.scrollTo({ top: isFirst ? 0 : middle, left: web.scrollX, behavior: 'instant' });
}

/** Scrolls back to the top after `scrollTallWindow`, and takes back what it changed. */
export function scrollBack(): void {
  refix();
  web.scrollTo({ top: 0, left: web.scrollX, behavior: 'instant' });
}

/** Notes what has come over the window while the page was scrolled. */
export function noteNewPopups(): void {
  notePopups(scrolled());
}
