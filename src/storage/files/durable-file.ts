import { open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from './directories.ts';
import { PRIVATE_FILE } from './private-files.ts';

/*
 * `write-file-atomic` would not do: it does not sync the directory, and captures are renamed as whole directories.
 */

/** Writes a new file. Does not sync it. */
export function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  return writeFile(path, content, { flag: 'wx', mode: PRIVATE_FILE });
}

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

/** Writes a draft and publishes it as the target, durably, by `rename` or `link`. The draft never stays. */
export async function publishDurably(
  draft: string,
  target: string,
  content: string,
  publish: (draft: string, target: string) => Promise<void>,
): Promise<void> {
  try {
    await writeDurably(draft, content);
    await publish(draft, target);
    await syncDirectory(dirname(target));
  } finally {
    await rm(draft, { force: true });
  }
}
