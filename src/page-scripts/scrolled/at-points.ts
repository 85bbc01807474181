import { middles } from '../boxes/in-window.ts';
import { elementAt, elementsAt, type PageElement, type PageRoot, page, shadowOf } from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** Points in each direction at which the window is examined. */
const POINTS = 8;

/** Returns the elements at a grid of points in the window, the upper ones first. `all`: also those below them. */
export function atPoints(all: boolean): Set<PageElement> {
  const found = new Set<PageElement>();
  const add = (tree: PageRoot, x: number, y: number): void => {
    for (const element of all ? elementsAt(tree, x, y) : [elementAt(tree, x, y)]) {
      if (element === null || found.has(element)) continue;
      found.add(element);
      const shadow = shadowOf(element);
      if (shadow !== null) add(shadow, x, y);
    }
  };
  for (const y of places(web.innerHeight)) for (const x of places(web.innerWidth)) add(page, x, y);
  return found;
}

const places = (length: number) => [8, ...middles(length, POINTS)];
