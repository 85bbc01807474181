import type { Box } from './dom.ts';
import { web } from './web.ts';

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
