import { isRendered } from '../boxes/drawn-box.ts';
import { inWindow } from '../boxes/in-window.ts';
import { type Box, boxOf, closest, type PageElement, selectOne, textOf } from '../dom/dom.ts';

/** Whether some of a box is in the window. */
export function isInWindow(box: Box): boolean {
  const { width, height } = inWindow(box);
  return width > 0 && height > 0;
}

/** Whether an element is rendered, and not transparent. */
export const isOpaque = (element: PageElement): boolean => isRendered(element, { opacityProperty: true });

/** Whether an element, or a part of it with this box, is in the window and not transparent. */
export const isShown = (element: PageElement, box = boxOf(element)): boolean => isInWindow(box) && isOpaque(element);

export const holds = (element: PageElement, css: string): boolean => selectOne(element, css) !== null;

export const isWithin = (element: PageElement, css: string): boolean => closest(element, css) !== null;

export const ownText = (element: PageElement): string => textOf(element).trim();
