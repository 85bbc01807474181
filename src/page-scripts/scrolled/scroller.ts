import {
  clientHeightOf,
  type PageElement,
  page,
  rootElementOf,
  scrollerOf,
  scrollHeightOf,
  scrollTopOf,
  scrollWithin,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** The window, or the element that scrolls in its place. */
interface Scroller {
  /** CSS pixels from the top of the content to what is shown. */
  top(): number;
  /** CSS pixels of what is shown at once. */
  size(): number;
  /** CSS pixels of the content. */
  height(): number;
  scrollTo(top: number): void;
}

export function scrollerFor(element: PageElement | null): Scroller {
  if (element !== null) {
    return {
      top: () => scrollTopOf(element),
      size: () => Math.max(1, clientHeightOf(element)),
      height: () => scrollHeightOf(element),
      scrollTo: (top) => scrollWithin(element, { top, left: 0, behavior: 'instant' }),
    };
  }
  const root = scrollerOf(page) ?? rootElementOf(page);
  return {
    top: () => web.scrollY,
    size: () => Math.max(1, web.innerHeight),
    height: () => (root === null ? 0 : scrollHeightOf(root)),
    scrollTo: (top) => web.scrollTo({ top, left: 0, behavior: 'instant' }),
  };
}
