import { holds } from '../dom/composed-tree.ts';
import {
  around,
  bodyOf,
  boxOf,
  closeDialog,
  elementsAt,
  hostOf,
  isShadowRoot,
  matches,
  type PageElement,
  page,
  rootElementOf,
  rootOf,
} from '../dom/dom.ts';
import { positioned, search } from '../dom/positioned.ts';
import { web } from '../dom/web.ts';
import { covers, middles } from './in-window.ts';

/*
 * Finds elements that lie over the page. A page that consists of fixed elements, as applications do, is no overlay: it
 * lies over no content.
 */

/** Share of the window from which on a fixed element may be the page itself, or a popup. */
const MIN_WINDOW_SHARE = 0.4;
/** Points in each direction at which the window is examined. */
const POINTS = 8;

/** Returns fixed elements, except one that is the page itself or its background. */
export function fixedOverlays(): PageElement[] {
  const top = closeTopLayer();
  const coversContent = coveringNow();
  return [...top, ...fixedElements().filter((element) => !isLarge(element) || coversContent(element))];
}

/** Returns popups: dialogs, and fixed elements over the middle or a large part of the window that cover content. */
export function popups(): PageElement[] {
  const top = closeTopLayer();
  const coversContent = coveringNow();
  const isOver = (element: PageElement) => (isLarge(element) || isCentral(element)) && coversContent(element);
  const overlays = fixedElements().filter(isOver);
  return [...top, ...search(isDialog), ...overlays];
}

/**
 * Returns the elements in the top layer, and closes modal dialogs: all else is inert behind them, and not found at
 * points.
 */
function closeTopLayer(): PageElement[] {
  const top = search((element) => matches(element, ':modal, :popover-open'));
  for (const each of top) if (matches(each, 'dialog:modal')) closeDialog(each);
  return top;
}

const fixedElements = () => {
  const bodies = bodiesOf();
  return positioned('fixed').filter((element) => !bodies.has(element));
};

const bodiesOf = () => new Set([rootElementOf(page), bodyOf(page)]);

function isDialog(element: PageElement): boolean {
  const dialogs = '[role="dialog" i], [role="alertdialog" i], [aria-modal="true" i]';
  return matches(element, dialogs) && /fixed|absolute/.test(web.getComputedStyle(element).position);
}

const isLarge = (element: PageElement): boolean => covers(MIN_WINDOW_SHARE, boxOf(element));

function isCentral(element: PageElement): boolean {
  const { left, right, top, bottom } = boxOf(element);
  const [x, y] = [web.innerWidth / 2, web.innerHeight / 2];
  return left < x && right > x && top < y && bottom > y;
}

/**
 * Looks at a grid of points in the window, and returns a function that tells whether there is content below an element
 * that does not belong to a fixed element beside it.
 */
export function coveringNow(): (element: PageElement) => boolean {
  const [rows, columns] = [middles(web.innerHeight, POINTS), middles(web.innerWidth, POINTS)];
  const stacks = rows.flatMap((y) => columns.map((x) => elementsAt(page, x, y)));
  const bodies = bodiesOf();
  const fixedAround = rememberFixed();
  return (element) => {
    const shown = outermostHost(element);
    const isContent = (below: PageElement) => {
      if (bodies.has(below) || holds(below, element)) return false;
      const fixed = fixedAround(below);
      return fixed === null || holds(fixed, element);
    };
    return stacks.some((stack) => {
      const at = stack.findLastIndex((each) => holds(shown, each));
      return at !== -1 && stack.slice(at + 1).some(isContent);
    });
  };
}

/** Stacks of the document show the host in place of what is in a shadow tree. */
export function outermostHost(element: PageElement): PageElement {
  let shown = element;
  for (let root = rootOf(shown); isShadowRoot(root); root = rootOf(shown)) shown = hostOf(root);
  return shown;
}

/** Returns a function that finds the nearest fixed element: an element itself or one around it, or else null. */
function rememberFixed(): (element: PageElement) => PageElement | null {
  const known = new Map<PageElement, PageElement | null>();
  return (element) => {
    const way: PageElement[] = [];
    let found: PageElement | null = null;
    for (let each: PageElement | null = element; each !== null; each = around(each)) {
      const before = known.get(each);
      if (before !== undefined) {
        found = before;
        break;
      }
      way.push(each);
      if (web.getComputedStyle(each).position !== 'fixed') continue;
      found = each;
      break;
    }
    for (const each of way) known.set(each, found);
    return found;
  };
}
