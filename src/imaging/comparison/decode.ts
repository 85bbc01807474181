import { rm } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { errorText } from '../../capture/basics/error-text.ts';
import { MAX_COMPARED_PIXELS } from '../../capture/comparison/comparison.ts';
import { loadSharp } from '../load-sharp.ts';
import type { File } from './compared.ts';
import type { Pixels } from './pixels.ts';
import { refuseLowDisk } from './refuse-low-disk.ts';
import { MAX_PIXELS_IN_MEMORY, Rows } from './rows.ts';

/**
 * Decodes an image file, into the file `decoded`, whose name ends in `.v`, if it is large; `note` is then called with
 * null, or with the reason why it is decoded in memory. Transparency counts as white. Null when it has more pixels than
 * may be compared.
 */
export async function decode(
  file: File | string,
  decoded: string | null,
  note: (inMemory: string | null) => void,
): Promise<Pixels | null> {
  const sharp = await loadSharp();
  const image = sharp(file, { limitInputPixels: false, sequentialRead: true });
  const { width, height, format } = await image.metadata();
  const isExact = format === 'png';
  if (width * height > MAX_COMPARED_PIXELS) return null;
  const opaque = image.flatten({ background: 'white' }).toColourspace('srgb').ensureAlpha();
  if (width * height > MAX_PIXELS_IN_MEMORY && decoded !== null) {
    try {
      await write(opaque.clone(), decoded, width * height * Uint32Array.BYTES_PER_ELEMENT);
      const rows = new Rows(width, height, decoded);
      note(null);
      return { rows, width, height, isExact };
    } catch (error) {
      // On a full disk, the image is decoded in memory instead.
      note(errorText(error));
    }
  }
  const { buffer, byteOffset } = await opaque.raw().toBuffer();
  return { rows: new Rows(width, height, new Uint32Array(buffer, byteOffset, width * height)), width, height, isExact };
}

/** Writes a file of so many bytes. Rejects, and leaves no file, when it cannot be written or the disk would be low. */
async function write(image: Sharp, file: string, bytes: number): Promise<void> {
  await refuseLowDisk(file, bytes);
  try {
    await image.toFile(file);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
