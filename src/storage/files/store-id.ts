import { randomUUID } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { codeOf } from '../system-error.ts';
import { ifThere, makeDirectory, syncDirectory } from './directories.ts';
import { writeDurably } from './durable-file.ts';
import { storeFile } from './layout.ts';

const storeSchema = z.object({ id: z.uuid() });

/** Undefined when the directory holds no store, or is not there. */
export async function readStoreId(dataDir: string): Promise<string | undefined> {
  const text = await ifThere(readFile(storeFile(dataDir), 'utf8'));
  return text === undefined ? undefined : storeSchema.parse(JSON.parse(text)).id;
}

/** Gives the directory an id if it has none. Of several processes that do so at once, all get the same. */
export async function readOrCreateStoreId(dataDir: string): Promise<string> {
  const known = await readStoreId(dataDir);
  if (known !== undefined) return known;
  await makeDirectory(dataDir);
  const id = randomUUID();
  const draft = `${storeFile(dataDir)}.${id}`;
  await writeDurably(draft, `${JSON.stringify({ id })}\n`);
  try {
    // Unlike a rename, a link never replaces the file of a process that was faster.
    await link(draft, storeFile(dataDir));
    await syncDirectory(dataDir);
    return id;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return readOrCreateStoreId(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
}
