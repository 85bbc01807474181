import { open } from 'node:fs/promises';
import { PRIVATE_FILE } from './private-files.ts';

/*
 * `write-file-atomic` would not do: it does not sync the directory, and captures are renamed as whole directories.
 */

/** Writes a new file and waits until its content is on disk. Its name is durable only after its directory is synced. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', PRIVATE_FILE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
