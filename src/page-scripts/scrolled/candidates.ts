import { boxOf, isConnected, type PageElement, parentElementOf, select } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { clipAround } from '../whole-page/behind-scrolling.ts';
import { isPlain, lookOf } from './looks.ts';
import type { Scrolled } from './state.ts';

/** Number of elements after which no more are looked for. */
const MAX_ELEMENTS = 3_000;
/** Share of the window's height that is looked at while it shows the top. */
const TOP_SHARE = 0.8;

/**
 * Returns elements below the window that may be shown only while they are in it, with the CSS pixels from the top of
 * the window to their middle: those that are hidden or moved, of those that changed or follow scrolling.
 */
export function candidatesIn(
  { scroller, changed }: Scrolled,
  followers: ReadonlySet<PageElement>,
): Map<PageElement, number> {
  const candidates = new Map<PageElement, number>();
  const staysInWindow = rememberStaying(scroller);
  const consider = (element: PageElement) => {
    if (!isConnected(element) || candidates.has(element)) return;
    if (isPlain(lookOf(element)) && !followers.has(element)) return;
    // An element that is fixed behind a section is seen at the place of the section.
    const section = web.getComputedStyle(element).position === 'fixed' ? clipAround(element) : null;
    const { top, height, width, bottom } = boxOf(section ?? element);
    const isLow = width > 0 && height > 0 && bottom > web.innerHeight * TOP_SHARE;
    if (!isLow || staysInWindow(section ?? element)) return;
    candidates.set(element, top + height / 2);
  };
  for (const element of followers) consider(element);
  for (const element of changed) {
    consider(element);
    for (const each of select(element, '*')) consider(each);
    if (candidates.size > MAX_ELEMENTS) break;
  }
  return candidates;
}

/** Elements that stay in the window keep the look that they have at the top. */
function rememberStaying(scroller: PageElement | null): (element: PageElement) => boolean {
  const known = new Map<PageElement, boolean>();
  const stays = (element: PageElement | null): boolean => {
    if (element === null || element === scroller) return false;
    const before = known.get(element);
    if (before !== undefined) return before;
    const { position } = web.getComputedStyle(element);
    const answer = position === 'fixed' || position === 'sticky' || stays(parentElementOf(element));
    known.set(element, answer);
    return answer;
  };
  return stays;
}
