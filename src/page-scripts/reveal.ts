import { above, type PageElement, scrollIntoView } from './dom.ts';
import { web } from './web.ts';

const NEAREST = { block: 'nearest', inline: 'nearest', behavior: 'instant' } as const;

/**
 * Scrolls to an element. In a frame only its own document is scrolled: those around a frame of another process would be
 * scrolled at any later time.
 */
export function reveal(element: PageElement, isFrame: boolean): void {
  if (!isFrame) {
    scrollIntoView(element, NEAREST);
    return;
  }
  for (let each: PageElement | null = element; each !== null; each = above(each)) {
    if (each === element || isScroller(each)) scrollIntoView(each, { ...NEAREST, container: 'nearest' });
  }
}

function isScroller(element: PageElement): boolean {
  const { overflowX, overflowY } = web.getComputedStyle(element);
  return /auto|scroll|hidden/.test(overflowX + overflowY);
}
