import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../capture/basics/error-text.ts';
import type { File, StoredImage } from './compared.ts';
import { refuseLowDisk } from './refuse-low-disk.ts';

/** Maximum size of an image file in memory, in bytes. Larger ones are copied to the disk, as decoded images are. */
const MAX_BYTES_IN_MEMORY = 2 ** 22;

/**
 * Reads an image file for the thread: a large one into `copy`, whose path is returned, others into memory. `note` is
 * called with the reason why a large one is read into memory.
 */
export async function placeImage(
  image: StoredImage,
  copy: string | null,
  note: (inMemory: string) => void,
): Promise<File | string> {
  if (image instanceof Uint8Array) return image;
  if (image.bytes > MAX_BYTES_IN_MEMORY && copy !== null) {
    const inMemory = await refuseLowDisk(copy, image.bytes).then(() => null, errorText);
    if (inMemory === null) {
      await pipeline(image.stream(), createWriteStream(copy));
      return copy;
    }
    note(inMemory);
  }
  const file = new Uint8Array(image.bytes);
  let at = 0;
  // Piece by piece: joining and copying a file of many megabytes would block the event loop.
  for await (const chunk of image.stream()) {
    file.set(chunk, at);
    at += chunk.length;
  }
  return file;
}
