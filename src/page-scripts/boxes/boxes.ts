import type { Box } from '../dom/dom.ts';

/** A rectangle in CSS pixels, as a script returns it. */
export type Rectangle = Pick<Box, 'x' | 'y' | 'width' | 'height'>;
/** The sides of a rectangle, in CSS pixels. */
export type Sides = Pick<Box, 'left' | 'top' | 'right' | 'bottom'>;

export const meets = (one: Sides, other: Sides): boolean =>
  one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;

/** Whether a box lies in another one, to the pixel. */
export const isWithin = (inner: Sides, outer: Sides): boolean =>
  inner.left >= outer.left - 1 &&
  inner.right <= outer.right + 1 &&
  inner.top >= outer.top - 1 &&
  inner.bottom <= outer.bottom + 1;

/** Returns the part of a box inside an area that is extended by 1 pixel on each side, because the browser rounds. */
export function cutTo(box: Rectangle, area: Rectangle): Rectangle | null {
  const [x, y] = [Math.max(box.x, area.x - 1), Math.max(box.y, area.y - 1)];
  const width = Math.min(box.x + box.width, area.x + area.width + 1) - x;
  const height = Math.min(box.y + box.height, area.y + area.height + 1) - y;
  return area.width > 0 && area.height > 0 ? { x, y, width, height } : null;
}

/** Returns the smallest box around these; null when there is none. */
export function around(boxes: readonly Rectangle[]): Rectangle | null {
  if (boxes.length === 0) return null;
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}
