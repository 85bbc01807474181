import sharp from 'sharp';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';

export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** An image as pixels of four bytes: red, green, blue and alpha. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

/** Decodes an image file of any format and size. */
export async function pixelsOf(file: Uint8Array): Promise<Pixels> {
  const image = sharp(file, { limitInputPixels: false }).toColourspace('srgb').ensureAlpha();
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** Decodes the image of a snapshot; rejects when its format is not png. */
export async function pngOf({ image }: Pick<Snapshot, 'image'>): Promise<Pixels> {
  const { format } = await sharp(image, { limitInputPixels: false }).metadata();
  if (format !== 'png') throw new Error(`the image is a ${format}`);
  return await pixelsOf(image);
}

/** Returns one number for each pixel: equal colours have equal numbers. */
export function numbersOf({ data }: Pick<Pixels, 'data'>): Uint32Array {
  return new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
}

export function colourAt(png: Pixels, x: number, y: number): Colour {
  const at = (y * png.width + x) * 4;
  const [red = -1, green = -1, blue = -1, alpha = -1] = png.data.subarray(at, at + 4);
  return [red, green, blue, alpha];
}

/** Counts the pixels of an image that have this colour. */
export function countOf(png: Pixels, [red, green, blue, alpha]: Colour): number {
  const [wanted] = numbersOf({ data: Buffer.from([red, green, blue, alpha]) });
  const numbers = numbersOf(png);
  let count = 0;
  // By index, since an iterator takes ten times as long: full pages have 20 million pixels.
  for (let at = 0; at < numbers.length; at += 1) if (numbers[at] === wanted) count += 1;
  return count;
}

/** Returns the rectangle around all pixels that have this colour, give or take; null when there are none. */
export function placeOf(png: Pixels, colour: readonly [red: number, green: number, blue: number], tolerance: number) {
  const sides = { left: Number.POSITIVE_INFINITY, top: Number.POSITIVE_INFINITY, right: -1, bottom: -1 };
  const isNear = (at: number, value: number) => Math.abs((png.data[at] ?? 0) - value) <= tolerance;
  const [red, green, blue] = colour;
  for (let at = 0; at < png.data.length; at += 4) {
    if (!isNear(at, red) || !isNear(at + 1, green) || !isNear(at + 2, blue)) continue;
    const [x, y] = [(at / 4) % png.width, Math.floor(at / 4 / png.width)];
    sides.left = Math.min(sides.left, x);
    sides.top = Math.min(sides.top, y);
    sides.right = Math.max(sides.right, x + 1);
    sides.bottom = Math.max(sides.bottom, y + 1);
  }
  if (sides.right < 0) return null;
  return { x: sides.left, y: sides.top, width: sides.right - sides.left, height: sides.bottom - sides.top };
}
