import {
  around,
  bodyOf,
  clientHeightOf,
  isHtml,
  offsetHeightOf,
  type PageElement,
  page,
  rootElementOf,
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
  const unfolded: Unfolded[] = [];
  for (let each: PageElement | null = scroller; each !== null; each = around(each)) {
    const height = isHtml(each) ? offsetHeightOf(each) : null;
    unfolded.push({ element: each, height, cutsOff: each !== scroller && cutsOff(each) });
  }
  const more = scrollHeightOf(scroller) - clientHeightOf(scroller);
  for (const { height, ...each } of unfolded) unfold({ ...each, height: height === null ? null : height + more });
  return true;
}

/**
 * Tells the page that its window was resized, as it would be if it were as high as the content, and waits until it has
 * had this many milliseconds to draw what shows now.
 */
export async function tellResized(ms: number): Promise<void> {
  web.dispatchEvent(new web.Event('resize'));
  await new Promise<void>((resolve) => web.setTimeout(resolve, ms));
}

interface Unfolded {
  readonly element: PageElement;
  /** Height in CSS pixels; null for drawings, which keep theirs. */
  readonly height: number | null;
  /** Whether it hides a part of its content where a visitor cannot scroll to it. */
  readonly cutsOff: boolean;
}

function cutsOff(element: PageElement): boolean {
  const { overflowY } = web.getComputedStyle(element);
  const isClipped = overflowY === 'hidden' || overflowY === 'clip';
  const isOfWindow = element === bodyOf(page) || element === rootElementOf(page);
  return isClipped && !isOfWindow && scrollHeightOf(element) > clientHeightOf(element);
}

/** Gives an element a height, and shows the content that overflows it, except for what it cuts off. */
function unfold({ element, height, cutsOff }: Unfolded): void {
  const { position, overflowX } = web.getComputedStyle(element);
  setStyle(element, {
    'box-sizing': 'border-box',
    ...(height === null ? {} : { height: `${height}px`, 'min-height': `${height}px` }),
    'max-height': 'none',
    'overflow-y': cutsOff ? 'clip' : 'visible',
    transition: 'none',
    ...(overflowX === 'visible' ? {} : { 'overflow-x': 'clip' }),
    ...(position === 'fixed' ? { position: 'absolute' } : {}),
    ...(position === 'fixed' || position === 'absolute' ? { bottom: 'auto' } : {}),
  });
}
