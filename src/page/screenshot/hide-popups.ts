import type { Deadline } from '../../capture/deadline.ts';
import { askPage } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { SCROLL_STATE } from './scroll-state.ts';

/**
 * Remembers what has come over the window while the page was scrolled, so that `HIDE_POPUPS` leaves what comes later.
 * Call it at the top of the page.
 */
export async function notePopups(page: IsolatedPage, deadline: Deadline): Promise<void> {
  await askPage(page, deadline, 'look for popups', `(${NOTE})()`);
}

/** JavaScript of a function that returns fixed elements over the window that were not there before it was scrolled. */
const POPUPS = `({ atPoints, first }, all) => {
  const isFixed = (element) => getComputedStyle(element).position === 'fixed' || element.matches(':modal, :popover-open');
  const found = new Set();
  for (const top of atPoints(all)) {
    let fixed = null;
    for (let each = top; each; each = each.assignedSlot ?? each.parentElement ?? each.getRootNode().host) {
      if (isFixed(each)) fixed = each;
    }
    if (fixed !== null && !first.has(fixed)) found.add(fixed);
  }
  return found;
}`;

/** Runs in the page. Behind a modal dialog, all other elements are inert, and are not found at points. */
const NOTE = `() => {
  const state = (${SCROLL_STATE})();
  if (document.querySelector('dialog:modal') === null) state.popups = (${POPUPS})(state, true);
}`;

/**
 * JavaScript of a function that hides what has come over the window while the page was scrolled. On a page that does
 * not listen to scrolling, nothing came because of it, so everything stays visible.
 */
export const HIDE_POPUPS = `(setStyle, state) => {
  const hide = (each) => {
    setStyle(each, { opacity: '0', visibility: 'hidden', transition: 'none', 'backdrop-filter': 'none' });
    if (each.matches('dialog:modal')) HTMLDialogElement.prototype.close.call(each);
  };
  if (!state.hears) return;
  if (state.popups !== null) return state.popups.forEach(hide);
  // A popup and the layer behind it are found one after the other.
  for (let layers = 0; layers < 4; layers += 1) {
    const covers = (${POPUPS})(state, false);
    if (covers.size === 0) return;
    covers.forEach(hide);
  }
}`;
