import {
  around,
  clientHeightOf,
  isHtml,
  offsetHeightOf,
  type PageElement,
  scrollHeightOf,
  setScrollTop,
} from '../dom/dom.ts';
import { setStyle } from '../dom/set-style.ts';
import { web } from '../dom/web.ts';
import { mainScroller } from '../scrolled/main-scroller.ts';
import { flatten } from '../whole-page/flatten.ts';

/**
 * Makes the main scroller, and the elements around it, as high as its content. So the document has the height that it
 * would have in a window of that height, while `vh` units keep theirs. Returns whether there is such a scroller.
 */
export function unfoldScroller(): boolean {
  const scroller = mainScroller();
  if (scroller === null) return false;
  setScrollTop(scroller, 0);
  flatten(scroller, scrollHeightOf(scroller));
  const unfolded: { element: PageElement; height: number | null }[] = [];
  for (let each: PageElement | null = scroller; each !== null; each = around(each)) {
    unfolded.push({ element: each, height: isHtml(each) ? offsetHeightOf(each) : null });
  }
  const more = scrollHeightOf(scroller) - clientHeightOf(scroller);
  for (const { element, height } of unfolded) unfold(element, height === null ? null : `${height + more}px`);
  return true;
}

/** Shows the content that overflows an element. Drawings keep their heights, and have null. */
function unfold(element: PageElement, height: string | null): void {
  const { position, overflowX } = web.getComputedStyle(element);
  setStyle(element, {
    'box-sizing': 'border-box',
    ...(height === null ? {} : { height, 'min-height': height }),
    'max-height': 'none',
    'overflow-y': 'visible',
    transition: 'none',
    ...(overflowX === 'visible' ? {} : { 'overflow-x': 'clip' }),
    ...(position === 'fixed' ? { position: 'absolute' } : {}),
    ...(position === 'fixed' || position === 'absolute' ? { bottom: 'auto' } : {}),
  });
}
