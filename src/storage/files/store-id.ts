import { randomUUID } from 'node:crypto';
import { link, readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import { codeOf } from '../../capture/basics/error-code.ts';
import { ifThere, makeDirectory } from './directories.ts';
import { publishDurably } from './durable-file.ts';
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

type StoreMark = z.output<typeof storeSchema>;

/** Reads `store.json`; undefined when the directory contains no store, or does not exist. */
export async function readStore(dataDir: string): Promise<StoreMark | undefined> {
  const text = await ifThere(readFile(storeFile(dataDir), 'utf8'));
  if (text === undefined) return undefined;
  const mark = storeSchema.safeParse(jsonOf(text));
  if (mark.success) return mark.data;
  throw new DamagedStoreError(
    `${storeFile(dataDir)} is damaged: it has ${text.length} characters and no id of a store`,
  );
}

/** `store.json` is there, but its id cannot be read. */
export class DamagedStoreError extends Error {
  override readonly name = 'DamagedStoreError';
  readonly advice =
    'restore it from a backup, or write {"id":"..."} with the id that `store` has in the records of its captures';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Assigns an id to the directory if it has none. Concurrent processes all get the same id. */
export async function readOrCreateStoreId(dataDir: string): Promise<string> {
  const known = await readStore(dataDir);
  if (known !== undefined) return known.id;
  await makeDirectory(dataDir);
  const id = randomUUID();
  try {
    // Unlike a rename, a link never replaces the file of a process that was faster.
    await writeStore(dataDir, { id, database: null }, link);
    return id;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return readOrCreateStoreId(dataDir);
  }
}

/** Notes the database that the directory is used with. */
export async function noteDatabase(dataDir: string, mark: StoreMark): Promise<void> {
  await writeStore(dataDir, mark, rename);
}

/** Returns the command that marks an empty directory as the store that it was. */
export function restoreHint(dataDir: string, id: string): string {
  return `echo '{"id":"${id}"}' > ${storeFile(dataDir)}`;
}

function writeStore(dataDir: string, mark: StoreMark, publish: typeof link | typeof rename): Promise<void> {
  const file = storeFile(dataDir);
  return publishDurably(`${file}.${randomUUID()}`, file, `${JSON.stringify(mark)}\n`, publish);
}
