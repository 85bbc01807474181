import type { Rectangle } from '../../../capture/options/screenshot.ts';

/** The part that two rectangles share; null when there is none. */
export function intersection(one: Rectangle, other: Rectangle): Rectangle | null {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const width = Math.min(one.x + one.width, other.x + other.width) - x;
  const height = Math.min(one.y + one.height, other.y + other.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

export function contains(outer: Rectangle, inner: Rectangle): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

/** The smallest rectangle of whole pixels around another one. */
export function outwards({ x, y, width, height }: Rectangle): Rectangle {
  const left = Math.floor(x);
  const top = Math.floor(y);
  return { x: left, y: top, width: Math.ceil(x + width) - left, height: Math.ceil(y + height) - top };
}

/** Returns the part of a rectangle outside another one, as at most four rectangles. */
export function outside(whole: Rectangle, hole: Rectangle): Rectangle[] {
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

/** Cuts a rectangle into tiles of at most this size. */
export function tilesOf(whole: Rectangle, maxWidth: number, maxHeight: number): Rectangle[] {
  const tiles: Rectangle[] = [];
  for (let y = 0; y < whole.height; y += maxHeight) {
    for (let x = 0; x < whole.width; x += maxWidth) {
      tiles.push({
        x: whole.x + x,
        y: whole.y + y,
        width: Math.min(maxWidth, whole.width - x),
        height: Math.min(maxHeight, whole.height - y),
      });
    }
  }
  return tiles;
}
