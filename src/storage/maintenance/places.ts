import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ArtifactStoreKind, type DatabasePlaces, databaseOf } from '../../capture/artifacts/artifacts.ts';
import type { ObjectStoreConfig } from '../../config/slices.ts';
import { createDataDirectory } from '../files/data-directory.ts';
import { createFileArtifactStore } from '../files/file-artifact-store.ts';
import { readStore } from '../files/store-id.ts';
import { type OpenStore, openStore } from '../open-artifact-store.ts';
import { openDatabase } from '../open-database.ts';
import type { Database } from '../ports/database.ts';

export interface Places extends DatabasePlaces, Partial<ObjectStoreConfig> {
  readonly dataDir: string;
  readonly artifacts: ArtifactStoreKind;
}

/** The stores of a service, which may be running. */
export interface OpenPlaces extends OpenStore {
  readonly database: Database;
}

/** Opens the stores for the work. Rejects with the reason when the database is not available. */
export async function using<T>(places: Places, work: (open: OpenPlaces) => Promise<T>): Promise<T> {
  const { dataDir, artifacts } = places;
  // The other stores work without the data directory, too: it has only captures that wait for delivery.
  if (artifacts === 'files') {
    existing(dataDir, '; --data-dir names it, and --artifacts gridfs files in MongoDB');
    // Without the id of its store, no capture of the directory can be read.
    await readStore(dataDir);
  }
  if (databaseOf(places) === undefined) throw new Error('no database is configured: set --db-path or --mongo-url');
  let why = '';
  const { database, mongo } = await openDatabase({
    ...places,
    onState: (_, reason) => {
      why = reason;
    },
  });
  const data = createDataDirectory(dataDir);
  try {
    if (database.results.state !== 'up') throw new Error(why);
    const opened = await openStore(artifacts, { local: createFileArtifactStore(data), mongo, s3: places });
    return await work({ database, ...opened }).finally(opened.backend?.close);
  } finally {
    await database.close();
    await data.close();
  }
}

export function existing(path: string, advice = ''): string {
  if (existsSync(path)) return resolve(path);
  throw new Error(`${resolve(path)} does not exist${advice}`);
}
