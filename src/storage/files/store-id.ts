import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm } from 'node:fs/promises';
import { z } from 'zod';
import { codeOf } from '../failures/system-error.ts';
import { ifThere, makeDirectory, syncDirectory } from './directories.ts';
import { writeDurably } from './durable-file.ts';
import { storeFile } from './layout.ts';

/*
 * `store.json` marks a data directory that is in use. It tells a first start from a file system that is not mounted,
 * and names the store in the records of its captures.
 */

const storeSchema = z.object({
  id: z.uuid(),
  /** Absolute path of the SQLite file that the directory was last used with. */
  database: z.string().nullable().default(null),
});

export type StoreMark = z.output<typeof storeSchema>;

/** Reads `store.json`; undefined when the directory contains no store, or does not exist. */
export async function readStore(dataDir: string): Promise<StoreMark | undefined> {
  const text = await ifThere(readFile(storeFile(dataDir), 'utf8'));
  return text === undefined ? undefined : storeSchema.parse(JSON.parse(text));
}

/** Assigns an id to the directory if it has none. Concurrent processes all get the same id. */
export async function readOrCreateStoreId(dataDir: string): Promise<string> {
  const known = await readStore(dataDir);
  if (known !== undefined) return known.id;
  await makeDirectory(dataDir);
  const id = randomUUID();
  const draft = `${storeFile(dataDir)}.${id}`;
  try {
    await writeDurably(draft, textOf({ id, database: null }));
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

/** Notes the database that the directory is used with. */
export async function noteDatabase(dataDir: string, mark: StoreMark): Promise<void> {
  const draft = `${storeFile(dataDir)}.${randomUUID()}`;
  try {
    await writeDurably(draft, textOf(mark));
    await rename(draft, storeFile(dataDir));
    await syncDirectory(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Returns the command that marks an empty directory as the store that it was. */
export function restoreHint(dataDir: string, id: string): string {
  return `echo '{"id":"${id}"}' > ${storeFile(dataDir)}`;
}

function textOf(mark: StoreMark): string {
  return `${JSON.stringify(mark)}\n`;
}
