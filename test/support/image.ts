import { PNG } from 'pngjs';
import type { Snapshot } from '../../src/capture/snapshot.ts';

export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Decodes the image of a snapshot whose format is png. */
export function pngOf({ image }: Pick<Snapshot, 'image'>): PNG {
  return PNG.sync.read(Buffer.from(image));
}

export function colourAt(png: PNG, x: number, y: number): Colour {
  const at = (y * png.width + x) * 4;
  const [red = -1, green = -1, blue = -1, alpha = -1] = png.data.subarray(at, at + 4);
  return [red, green, blue, alpha];
}

/** Counts the pixels of an image that have this colour. */
export function countOf(png: PNG, [red, green, blue, alpha]: Colour): number {
  const wanted = Buffer.from([red, green, blue, alpha]).readUInt32BE();
  let count = 0;
  for (let at = 0; at < png.data.length; at += 4) if (png.data.readUInt32BE(at) === wanted) count += 1;
  return count;
}

/** Returns the rectangle around all pixels that have this colour, give or take; null when there are none. */
export function placeOf(png: PNG, colour: readonly [red: number, green: number, blue: number], tolerance: number) {
  const sides = { left: Number.POSITIVE_INFINITY, top: Number.POSITIVE_INFINITY, right: -1, bottom: -1 };
  for (let at = 0; at < png.data.length; at += 4) {
    if (colour.some((value, channel) => Math.abs((png.data[at + channel] ?? 0) - value) > tolerance)) continue;
    const [x, y] = [(at / 4) % png.width, Math.floor(at / 4 / png.width)];
    sides.left = Math.min(sides.left, x);
    sides.top = Math.min(sides.top, y);
    sides.right = Math.max(sides.right, x + 1);
    sides.bottom = Math.max(sides.bottom, y + 1);
  }
  if (sides.right < 0) return null;
  return { x: sides.left, y: sides.top, width: sides.right - sides.left, height: sides.bottom - sides.top };
}
