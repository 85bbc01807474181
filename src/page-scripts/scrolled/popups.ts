import { hide } from '../changes/hide.ts';
import { around, closeDialog, matches, type PageElement, page, selectOne } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { atPoints } from './at-points.ts';
import type { Scrolled } from './state.ts';

/** A popup and the layer behind it are found one after the other. */
const MAX_LAYERS = 4;

/** Notes what has come over the window. Behind a modal dialog, all else is inert, and not found at points. */
export function notePopups(state: Scrolled): void {
  if (selectOne(page, 'dialog:modal') === null) state.popups = newPopups(state, true);
}

/**
 * Hides what has come over the window while the page was scrolled. On a page that does not listen to scrolling, nothing
 * came because of it, so everything stays visible.
 */
export function hidePopups(state: Scrolled): void {
  if (!state.hears) return;
  if (state.popups !== null) {
    state.popups.forEach(close);
    return;
  }
  for (let layers = 0; layers < MAX_LAYERS; layers += 1) {
    const covers = newPopups(state, false);
    if (covers.size === 0) return;
    covers.forEach(close);
  }
}

/** Returns fixed elements over the window that were not there before it was scrolled. */
function newPopups({ first }: Scrolled, all: boolean): ReadonlySet<PageElement> {
  const found = new Set<PageElement>();
  for (const top of atPoints(all)) {
    const fixed = outermostFixed(top);
    if (fixed !== null && !first.has(fixed)) found.add(fixed);
  }
  return found;
}

function outermostFixed(top: PageElement): PageElement | null {
  let fixed: PageElement | null = null;
  for (let each: PageElement | null = top; each !== null; each = around(each)) if (isFixed(each)) fixed = each;
  return fixed;
}

function isFixed(element: PageElement): boolean {
  return web.getComputedStyle(element).position === 'fixed' || matches(element, ':modal, :popover-open');
}

function close(element: PageElement): void {
  hide(element);
  if (matches(element, 'dialog:modal')) closeDialog(element);
}
