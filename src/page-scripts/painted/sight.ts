import type { Box, PageElement } from '../dom/dom.ts';

/** Something that styles show, and the facts that decide whether a visitor sees it. */
export interface Sight {
  readonly parent: PageElement;
  /** The innermost element around it, or itself, that has a box. */
  readonly boxed: PageElement;
  /** Its rectangles in the window of its document, in CSS pixels, and the one around them. */
  readonly rects: () => readonly Box[];
  readonly rect: () => Box;
  /** Whether it stays where it is when the window scrolls. */
  readonly fixed: boolean;
  /** The innermost scrolling element around it. */
  readonly scroller: PageElement | null;
  /** The frame with its document. */
  readonly frame: Sight | null;
  /** Whether it is an element, which is painted when it can be seen, whatever its colours. */
  readonly isElement: boolean;
  /** Whether an element around it may hide it in a way that only the browser knows. */
  readonly isRisky: boolean;
  /** The elements around it that clip their content. */
  readonly clips: readonly PageElement[];
}

/** Returns the smallest rectangle around those with an area; null for none. */
export function boxOfRects(rects: readonly Box[]): Pick<Box, 'left' | 'top' | 'right' | 'bottom'> | null {
  const [first] = rects;
  if (first !== undefined && rects.length === 1) return first.width > 0 && first.height > 0 ? first : null;
  const drawn = rects.filter(({ width, height }) => width > 0 && height > 0);
  if (drawn.length === 0) return null;
  return {
    left: Math.min(...drawn.map((rect) => rect.left)),
    top: Math.min(...drawn.map((rect) => rect.top)),
    right: Math.max(...drawn.map((rect) => rect.right)),
    bottom: Math.max(...drawn.map((rect) => rect.bottom)),
  };
}
