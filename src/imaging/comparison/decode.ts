import { MAX_COMPARED_PIXELS } from '../../capture/comparison/comparison.ts';
import { loadSharp } from '../load-sharp.ts';
import type { Pixels } from './pixels.ts';

/** Decodes an image file. Transparency counts as white. Null when it has more pixels than may be compared. */
export async function decode(file: Uint8Array): Promise<Pixels | null> {
  const sharp = await loadSharp();
  const image = sharp(file, { limitInputPixels: false, sequentialRead: true });
  const { width, height } = await image.metadata();
  if (width * height > MAX_COMPARED_PIXELS) return null;
  const { data, info } = await image
    .flatten({ background: 'white' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { buffer, byteOffset } = data;
  return {
    data: new Uint32Array(buffer, byteOffset, info.width * info.height),
    width: info.width,
    height: info.height,
  };
}
