import type { Rectangle } from '../../capture/options/screenshot.ts';

/** The smallest rectangle of whole pixels around another one. */
export function outwards({ x, y, width, height }: Rectangle): Rectangle {
  const left = Math.floor(x);
  const top = Math.floor(y);
  return { x: left, y: top, width: Math.ceil(x + width) - left, height: Math.ceil(y + height) - top };
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
