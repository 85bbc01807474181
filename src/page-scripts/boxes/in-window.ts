import type { Box } from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** Returns the part of a box that lies in the window. Width and height are 0 when nothing does. */
export function inWindow({ left, top, right, bottom }: Box): Pick<Box, 'left' | 'top' | 'width' | 'height'> {
  const [fromLeft, fromTop] = [Math.max(0, left), Math.max(0, top)];
  return {
    left: fromLeft,
    top: fromTop,
    width: Math.max(0, Math.min(web.innerWidth, right) - fromLeft),
    height: Math.max(0, Math.min(web.innerHeight, bottom) - fromTop),
  };
}

/** Whether a box covers this share of the window. */
export function covers(share: number, box: Box): boolean {
  const { width, height } = inWindow(box);
  return width > 0 && height > 0 && width * height >= web.innerWidth * web.innerHeight * share;
}

/** Returns the middles of equal parts of a length. */
export const middles = (length: number, parts: number): number[] =>
  Array.from({ length: parts }, (_, at) => (length * (at + 0.5)) / parts);
