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
