import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ARTIFACT_STORE_KINDS, ARTIFACT_STORES } from '../../capture/artifacts/artifacts.ts';
import type { CaptureStore } from '../captures/capture-store.ts';
import { storeFile } from '../files/layout.ts';
import { noteDatabase, readStore, restoreHint } from '../files/store-id.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ResultStore } from '../ports/result-store.ts';

/** Number of newest records whose stores are compared. */
const LOOKED_AT = 20;

/**
 * Thrown when a file system is not mounted or files were removed: the start would create an empty store in their place.
 */
export class LostPlaceError extends Error {
  override readonly name = 'LostPlaceError';
}

/** Whether a data directory is in use. */
export function holdsStore(dataDir: string): boolean {
  return existsSync(storeFile(dataDir));
}

/**
 * Rejects with a `LostPlaceError` when the data directory holds no store or the SQLite file is missing, even at a
 * first start.
 */
export async function checkStoreExists(dataDir: string, dbPath: string | null): Promise<void> {
  const missing = [
    ...(holdsStore(dataDir) ? [] : [`the data directory ${resolve(dataDir)} holds no store`]),
    ...(dbPath === null || existsSync(dbPath) ? [] : [`the database ${resolve(dbPath)} is missing`]),
  ];
  if (missing.length === 0) return;
  throw new LostPlaceError(
    `${missing.join(', and ')}: mount it, or start once without --require-store, which creates what is missing`,
  );
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

interface PlacesOptions {
  readonly dataDir: string;
  readonly dbPath: string | null;
  readonly results: ResultStore;
  /** Called with one line for each sign that the data directory and the database do not belong together. */
  readonly onWarning: (text: string) => void;
}

/**
 * Compares the data directory with the records. Rejects with a `LostPlaceError` when the directory is empty and the
 * SQLite database knows captures of another one; warns when captures of several directories share a database.
 */
export async function checkDataDirectory({ dataDir, dbPath, results, onWarning }: PlacesOptions): Promise<void> {
  if (results.state !== 'up') return;
  const newest = await results.page({ by: 'all' }, LOOKED_AT);
  const id = (await readStore(dataDir))?.id;
  const stores = newest.flatMap(({ artifacts: stored }) => (stored === null ? [] : [stored.store]));
  const elsewhere = ARTIFACT_STORE_KINDS.filter((kind) => !ARTIFACT_STORES[kind].isInDataDir);
  const here: readonly (string | undefined)[] = [id, ...elsewhere];
  const other = stores.find((store) => !here.includes(store));
  if (other === undefined) return;
  if (id === undefined && dbPath !== null) {
    throw new LostPlaceError(
      `the data directory ${resolve(dataDir)} is empty, but the database has captures of store ${other}: mount it, or mark it as that store: ${markHint(dataDir, other)}`,
    );
  }
  onWarning(
    `the database has captures of another data directory (store ${other}): images can be read, and captures removed, only by a process that uses the directory which holds them`,
  );
}

/**
 * Warns when the database has lost its records. Called after the outbox was taken over: `captures` says which records
 * wait there, and which captures are being removed.
 */
export async function checkRecords(
  results: ResultStore,
  artifacts: Pick<ArtifactStore, 'oldest'>,
  captures: Pick<CaptureStore, 'pending' | 'refusal' | 'isRemoved'>,
  onWarning: (text: string) => void,
): Promise<void> {
  if (results.state !== 'up' || captures.pending > 0 || captures.refusal !== undefined) return;
  if ((await results.page({ by: 'all' }, 1)).length > 0) return;
  // Reads names only: an unreadable record must not prevent the start.
  for await (const id of artifacts.oldest()) {
    if (captures.isRemoved(id)) continue;
    onWarning(
      'the database has no records, but captures are stored: restore a backup, or run `capstan db rebuild`, which writes their records',
    );
    return;
  }
}

function markHint(dataDir: string, id: string): string {
  return `mkdir -p ${resolve(dataDir)} && ${restoreHint(resolve(dataDir), id)}`;
}

/** Notes the database in `store.json`, so that the next start notices when it is missing. */
export async function rememberDatabase(dataDir: string, id: string, dbPath: string): Promise<void> {
  const mark = { id, database: resolve(dbPath) };
  if ((await readStore(dataDir))?.database !== mark.database) await noteDatabase(dataDir, mark);
}
