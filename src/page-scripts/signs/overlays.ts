import { middles } from '../boxes/in-window.ts';
import { above, elementAt, matches, type PageElement, page, shadowOf } from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** Maximum number of elements of one kind that are looked at. */
export const MAX_ELEMENTS = 60;
/** Points in each direction at which the window is examined for overlays. */
const POINTS = 3;
/** Minimum z-index of an element out of the flow that counts as above the content. */
const MIN_Z_INDEX = 10;
const MAX_SHADOW_DEPTH = 10;

/** Returns the outermost elements above the content, and the share of points of the window at which there is one. */
export function overlaysOf(
  root: PageElement,
  body: PageElement,
): { readonly overlays: ReadonlySet<PageElement>; readonly share: number } {
  const outermostOver = overlayFinder(root, body);
  const overlays = new Set<PageElement>();
  let overlaid = 0;
  for (const y of middles(web.innerHeight, POINTS)) {
    for (const x of middles(web.innerWidth, POINTS)) {
      const top = topAt(x, y);
      const over = top && outermostOver(top);
      if (over === null) continue;
      overlaid += 1;
      overlays.add(over);
    }
  }
  return { overlays, share: overlaid / POINTS ** 2 };
}

/** Returns a function that returns whether an element is in one of these. */
export function inAny(overlays: ReadonlySet<PageElement>): (element: PageElement) => boolean {
  return (element) => {
    for (let each: PageElement | null = element; each !== null; each = above(each)) if (overlays.has(each)) return true;
    return false;
  };
}

/**
 * Returns a function that returns the outermost element above the content around an element, or itself; null for none.
 */
function overlayFinder(root: PageElement, body: PageElement): (element: PageElement | null) => PageElement | null {
  const known = new Map<PageElement | null, PageElement | null>([
    [null, null],
    [body, null],
    [root, null],
  ]);
  const find = (element: PageElement | null): PageElement | null => {
    const before = known.get(element);
    if (before !== undefined || element === null) return before ?? null;
    const { position, zIndex } = web.getComputedStyle(element);
    const isAbove =
      position === 'fixed' ||
      (position === 'absolute' && Number(zIndex) >= MIN_Z_INDEX) ||
      matches(element, ':modal, :popover-open');
    const found = find(above(element)) ?? (isAbove ? element : null);
    known.set(element, found);
    return found;
  };
  return find;
}

/** The topmost element at a point of the window, in shadow trees too. */
function topAt(x: number, y: number): PageElement | null {
  let element = elementAt(page, x, y);
  for (let depth = 0; element !== null && depth < MAX_SHADOW_DEPTH; depth += 1) {
    const shadow = shadowOf(element);
    const inner = shadow && elementAt(shadow, x, y);
    if (inner === null || inner === element) break;
    element = inner;
  }
  return element;
}
