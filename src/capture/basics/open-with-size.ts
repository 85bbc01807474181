import { type FileHandle, open } from 'node:fs/promises';

/** A file that is open for reading, and its size in bytes. */
interface FileWithSize {
  readonly file: FileHandle;
  readonly bytes: number;
}

/** Opens a file for reading. Rejects without leaving it open when its size cannot be read. */
export async function openWithSize(path: string): Promise<FileWithSize> {
  const file = await open(path);
  try {
    return { file, bytes: (await file.stat()).size };
  } catch (error) {
    await file.close();
    throw error;
  }
}
