import type { Box } from './comparison.ts';

export function areaOf(box: Pick<Box, 'width' | 'height'> | null): number {
  return box === null ? 0 : box.width * box.height;
}

/** Whether all of a box is in another one. */
export function holds(outer: Box, { x, y, width, height }: Box): boolean {
  return x >= outer.x && y >= outer.y && x + width <= outer.x + outer.width && y + height <= outer.y + outer.height;
}

/** Returns the part that two boxes share; null when there is none. */
export function intersection(one: Box, other: Box): Box | null {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const width = Math.min(one.x + one.width, other.x + other.width) - x;
  const height = Math.min(one.y + one.height, other.y + other.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** Returns the smallest box around others; null when there is none. */
export function union(boxes: readonly (Box | null)[]): Box | null {
  const given = boxes.filter((box) => box !== null);
  if (given.length === 0) return null;
  const x = Math.min(...given.map((box) => box.x));
  const y = Math.min(...given.map((box) => box.y));
  const right = Math.max(...given.map((box) => box.x + box.width));
  const bottom = Math.max(...given.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** Returns the part of a box outside another one, as at most four boxes. */
export function outside(whole: Box, hole: Box): Box[] {
  const shared = intersection(whole, hole);
  if (shared === null) return [whole];
  const { x, y, width, height } = whole;
  const [right, bottom] = [shared.x + shared.width, shared.y + shared.height];
  return [
    { x, y, width, height: shared.y - y },
    { x, y: bottom, width, height: y + height - bottom },
    { x, y: shared.y, width: shared.x - x, height: shared.height },
    { x: right, y: shared.y, width: x + width - right, height: shared.height },
  ].filter((each) => each.width > 0 && each.height > 0);
}

/** Returns the number of pixels of a box that are in none of the others. */
export function areaOutside(box: Box, others: readonly Box[]): number {
  let rest: readonly Box[] = [box];
  for (const other of others) rest = rest.flatMap((piece) => outside(piece, other));
  return rest.reduce((sum, piece) => sum + areaOf(piece), 0);
}
