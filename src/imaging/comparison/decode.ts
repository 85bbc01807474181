import { MAX_COMPARED_PIXELS } from '../../capture/comparison/comparison.ts';
import { loadSharp } from '../load-sharp.ts';
import type { Pixels } from './pixels.ts';
import { MAX_PIXELS_IN_MEMORY, Rows } from './rows.ts';

/**
 * Decodes an image file, into the file `decoded`, whose name ends in `.v`, if it is large. Transparency counts as white.
 * Null when it has more pixels than may be compared.
 */
export async function decode(file: Uint8Array, decoded: string): Promise<Pixels | null> {
  const sharp = await loadSharp();
  const image = sharp(file, { limitInputPixels: false, sequentialRead: true });
  const { width, height } = await image.metadata();
  if (width * height > MAX_COMPARED_PIXELS) return null;
  const opaque = image.flatten({ background: 'white' }).toColourspace('srgb').ensureAlpha();
  if (width * height > MAX_PIXELS_IN_MEMORY) {
    // A full disk costs memory, and no comparison.
    const isWritten = await opaque
      .clone()
      .toFile(decoded)
      .then(Boolean, () => false);
    if (isWritten) return { rows: new Rows(width, height, decoded), width, height };
  }
  const { buffer, byteOffset } = await opaque.raw().toBuffer();
  return { rows: new Rows(width, height, new Uint32Array(buffer, byteOffset, width * height)), width, height };
}
