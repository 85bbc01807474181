import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { storeFile } from './files/layout.ts';
import { noteDatabase, readStore, restoreHint } from './files/store-id.ts';
import { STORE as GRIDFS } from './gridfs/documents.ts';
import type { ResultStore } from './result-store.ts';

/** Number of newest records whose stores are compared. */
const LOOKED_AT = 20;

/**
 * Thrown when a file system is not mounted or files were removed: the start would create an empty store in their place.
 */
export class LostPlaceError extends Error {
  override readonly name = 'LostPlaceError';
}

/** Rejects with a `LostPlaceError` when the SQLite file that the data directory was last used with is missing. */
export async function checkDatabaseFile(dataDir: string, dbPath: string): Promise<void> {
  const path = resolve(dbPath);
  const mark = await readStore(dataDir).catch(() => undefined);
  if (mark?.database !== path || existsSync(path)) return;
  throw new LostPlaceError(
    `the database ${path} is missing: mount it, restore a backup, or run \`capstan db rebuild\` (${storeFile(dataDir)} says that it was used)`,
  );
}

export interface PlacesOptions {
  readonly dataDir: string;
  readonly dbPath: string | null;
  readonly results: ResultStore;
  /** Called with one line when captures of another store are in the same database. */
  readonly onWarning: (text: string) => void;
}

/**
 * Compares the data directory with the records. Rejects with a `LostPlaceError` when the directory is empty and the
 * SQLite database knows captures of another one; warns when captures of several directories share a database.
 */
export async function checkDataDirectory({ dataDir, dbPath, results, onWarning }: PlacesOptions): Promise<void> {
  if (results.state !== 'up') return;
  const id = (await readStore(dataDir))?.id;
  const newest = await results.page({ by: 'all' }, LOOKED_AT);
  const here: readonly (string | undefined)[] = [id, GRIDFS];
  const other = newest.map(({ artifacts }) => artifacts?.store).find((store) => store != null && !here.includes(store));
  if (other == null) return;
  if (id === undefined && dbPath !== null) {
    throw new LostPlaceError(
      `the data directory ${resolve(dataDir)} is empty, but the database has captures of store ${other}: mount it, or mark it as that store: mkdir -p ${resolve(dataDir)} && ${restoreHint(resolve(dataDir), other)}`,
    );
  }
  onWarning(
    `the database has captures of another data directory (store ${other}): images can be read, and captures removed, only by a process that uses the directory which holds them`,
  );
}

/** Notes the database in `store.json`, so that the next start notices when it is missing. */
export async function rememberDatabase(dataDir: string, id: string, dbPath: string): Promise<void> {
  const mark = { id, database: resolve(dbPath) };
  if ((await readStore(dataDir))?.database !== mark.database) await noteDatabase(dataDir, mark);
}
