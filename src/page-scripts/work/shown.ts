import { type Box, boxOf, closest, type PageElement, selectOne, textOf } from '../dom.ts';
import { isRendered } from '../drawn-box.ts';
import { web } from '../web.ts';

/** Whether some of a box is in the window. */
export function isInWindow({ left, top, right, bottom }: Box): boolean {
  if (right - left <= 0 || bottom - top <= 0) return false;
  return right > 0 && bottom > 0 && left < web.innerWidth && top < web.innerHeight;
}

export const isVisible = (element: PageElement): boolean => isRendered(element, { opacityProperty: true });

export const isShown = (element: PageElement): boolean => isInWindow(boxOf(element)) && isVisible(element);

export const holds = (element: PageElement, css: string): boolean => selectOne(element, css) !== null;

export const isWithin = (element: PageElement, css: string): boolean => closest(element, css) !== null;

export const ownText = (element: PageElement): string => textOf(element).trim();
