import { type FileHandle, open } from 'node:fs/promises';
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
  const { bytes } = image;
  const noteError = (error: unknown) => note(errorText(error));
  const isLarge = copy !== null && bytes > MAX_BYTES_IN_MEMORY;
  const copied = isLarge ? await create(copy, bytes).catch(noteError) : undefined;
  let file: File | string = copied === undefined || copy === null ? new Uint8Array(bytes) : copy;
  let at = 0;
  try {
    // Piece by piece: joining and copying a file of many megabytes would block the event loop.
    for await (const chunk of image.stream()) {
      if (typeof file === 'string') {
        try {
          await copied?.appendFile(chunk);
        } catch (error) {
          noteError(error);
          // The stream cannot be read again. The copy has what was read of it.
          file = new Uint8Array(bytes);
          await copied?.read(file, 0, at, 0);
        }
      }
      if (typeof file !== 'string') file.set(chunk, at);
      at += chunk.length;
    }
  } finally {
    await copied?.close();
  }
  return file;
}

async function create(file: string, bytes: number): Promise<FileHandle> {
  await refuseLowDisk(file, bytes);
  return open(file, 'w+');
}
