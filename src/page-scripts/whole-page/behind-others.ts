import { inWindow } from '../boxes/in-window.ts';
import { outermostHost } from '../boxes/overlays.ts';
import { ancestors, holds } from '../dom/composed-tree.ts';
import { boxOf, elementsAt, firstElementOf, interfaceOf, type PageElement, page } from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/**
 * Share of the window from which on a fixed element with a negative `z-index` counts: trackers have such frames, too.
 */
const MIN_SHARE = 0.02;
/** Places in each direction at which an element is examined, as shares of what the window shows of it. */
const PLACES = [0.05, 0.5, 0.95];
const REPLACED = ['HTMLImageElement', 'HTMLVideoElement', 'HTMLCanvasElement'];

/** Returns whether a fixed element is drawn behind the content of the page by a negative `z-index`. */
export function behindOthers(element: PageElement): boolean {
  const { width, height } = shownOf(element);
  if (width * height < web.innerWidth * web.innerHeight * MIN_SHARE) return false;
  for (const each of ancestors(element)) {
    const { position, zIndex } = web.getComputedStyle(each);
    if (position !== 'static' && Number(zIndex) < 0) return true;
    if (position === 'fixed' && zIndex !== 'auto') return false;
  }
  return false;
}

/**
 * Returns whether opaque content of the page covers a fixed element wherever it lies in the window, as it covers a
 * footer until the end of the page.
 */
export function isCovered(element: PageElement): boolean {
  const { left, top, width, height } = shownOf(element);
  if (width === 0 || height === 0) return false;
  const shown = outermostHost(element);
  const covers = (above: PageElement) =>
    isOpaque(above) && !ancestors(above).some((each) => web.getComputedStyle(each).position === 'fixed');
  return PLACES.every((down) =>
    PLACES.every((right) => {
      const stack = elementsAt(page, left + right * width, top + down * height);
      const at = stack.findIndex((each) => holds(shown, each));
      return at > 0 && stack.slice(0, at).some(covers);
    }),
  );
}

/** Returns the part of an element that lies in the window; of its first child when it has no size itself. */
function shownOf(element: PageElement) {
  const own = boxOf(element);
  const first = own.width * own.height === 0 ? firstElementOf(element) : null;
  return inWindow(first === null ? own : boxOf(first));
}

function isOpaque(element: PageElement): boolean {
  const { backgroundColor, opacity } = web.getComputedStyle(element);
  return opacity === '1' && (backgroundColor.startsWith('rgb(') || REPLACED.includes(interfaceOf(element)));
}
