import type { Box } from '../../capture/comparison.ts';

export function isIn(boxes: readonly Box[] | undefined, x: number, y: number): boolean {
  return boxes?.some((box) => x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height) === true;
}

export function areaOf({ width, height }: Box): number {
  return width * height;
}

/** Returns what two boxes have in common, which may be nothing. */
export function common(one: Box, other: Box): Box {
  const [x, y] = [Math.max(one.x, other.x), Math.max(one.y, other.y)];
  const width = Math.max(0, Math.min(one.x + one.width, other.x + other.width) - x);
  const height = Math.max(0, Math.min(one.y + one.height, other.y + other.height) - y);
  return { x, y, width, height };
}

/** Returns the number of pixels of a box that are in none of the others. */
export function areaOutside(box: Box, others: readonly Box[]): number {
  let rest: readonly Box[] = [box];
  for (const other of others) rest = rest.flatMap((piece) => without(piece, other));
  return rest.reduce((sum, piece) => sum + areaOf(piece), 0);
}

/** Returns what is above, below, left and right of another box. */
function without(box: Box, other: Box): readonly Box[] {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const left = Math.max(box.x, other.x);
  const top = Math.max(box.y, other.y);
  const endX = Math.min(right, other.x + other.width);
  const endY = Math.min(bottom, other.y + other.height);
  if (left >= endX || top >= endY) return [box];
  return [
    { ...box, height: top - box.y },
    { ...box, y: endY, height: bottom - endY },
    { x: box.x, y: top, width: left - box.x, height: endY - top },
    { x: endX, y: top, width: right - endX, height: endY - top },
  ].filter(({ width, height }) => width > 0 && height > 0);
}
