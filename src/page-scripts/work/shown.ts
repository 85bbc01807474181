import { isRendered } from '../boxes/drawn-box.ts';
import { inWindow } from '../boxes/in-window.ts';
import { type Box, boxOf, closest, type PageElement, selectOne, textOf } from '../dom/dom.ts';

/** Whether some of a box is in the window. */
export function isInWindow(box: Box): boolean {
  const { width, height } = inWindow(box);
  return width > 0 && height > 0;
}

export const isVisible = (element: PageElement): boolean => isRendered(element, { opacityProperty: true });

export const isShown = (element: PageElement): boolean => isInWindow(boxOf(element)) && isVisible(element);

export const holds = (element: PageElement, css: string): boolean => selectOne(element, css) !== null;

export const isWithin = (element: PageElement, css: string): boolean => closest(element, css) !== null;

export const ownText = (element: PageElement): string => textOf(element).trim();
