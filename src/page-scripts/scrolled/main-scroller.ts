import { covers } from '../boxes/in-window.ts';
import {
  bodyOf,
  boxOf,
  checkVisibility,
  clientHeightOf,
  clientWidthOf,
  interfaceOf,
  type PageElement,
  page,
  rootElementOf,
  scrollHeightOf,
} from '../dom/dom.ts';
import { eachElement } from '../dom/each-element.ts';
import { web } from '../dom/web.ts';

/** Share of the window that an element must fill to be the page's main scroller. */
const MIN_WINDOW_SHARE = 0.4;

/**
 * Returns the element which scrolls in place of a document that does not: the content of an application, a body that is
 * locked while a dialog is open. Null when the document scrolls, or nothing does.
 */
export function mainScroller(): PageElement | null {
  const [root, body] = [rootElementOf(page), bodyOf(page)];
  if (root === null || body === null || scrollHeightOf(root) > web.innerHeight + 1) return null;
  let best: PageElement | null = null;
  let bestArea = 0;
  eachElement(root, (element) => {
    if (!mayScroll(element, body) || !isMain(element, body)) return;
    const area = scrollHeightOf(element) * clientWidthOf(element);
    if (area > bestArea) [best, bestArea] = [element, area];
  });
  return best;
}

function mayScroll(element: PageElement, body: PageElement): boolean {
  if (interfaceOf(element) === 'HTMLTextAreaElement') return false;
  return element === body || scrollHeightOf(element) > clientHeightOf(element) + 1;
}

function isMain(element: PageElement, body: PageElement): boolean {
  const hidden = scrollHeightOf(element) - clientHeightOf(element);
  const { overflowY, position } = web.getComputedStyle(element);
  const isOut = element === body && position === 'fixed' && scrollHeightOf(element) > web.innerHeight + 1;
  const scrolls = overflowY === 'auto' || overflowY === 'scroll' || (element === body && overflowY !== 'visible');
  if (!isOut && !(scrolls && hidden > 1)) return false;
  return (
    covers(MIN_WINDOW_SHARE, boxOf(element)) &&
    checkVisibility(element, { opacityProperty: true, visibilityProperty: true })
  );
}
