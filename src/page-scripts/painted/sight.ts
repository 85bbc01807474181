import type { Sides } from '../boxes/boxes.ts';
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
export function boxOfRects(rects: readonly Box[]): Sides | null {
  let all: { -readonly [side in keyof Sides]: number } | null = null;
  for (const { left, top, right, bottom, width, height } of rects) {
    if (width <= 0 || height <= 0) continue;
    all ??= { left, top, right, bottom };
    all.left = Math.min(all.left, left);
    all.top = Math.min(all.top, top);
    all.right = Math.max(all.right, right);
    all.bottom = Math.max(all.bottom, bottom);
  }
  return all;
}
