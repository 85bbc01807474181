import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ArtifactStoreKind, DatabasePlaces } from '../../capture/artifacts.ts';
import { createDataDirectory } from '../files/data-directory.ts';
import { createFileArtifactStore } from '../files/file-artifact-store.ts';
import { readStore } from '../files/store-id.ts';
import type { DamagedFile } from '../gridfs/damaged-files.ts';
import { openMongo } from '../mongo/open.ts';
import { openExisting } from '../open-database.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Database } from '../ports/database.ts';
import type { S3Options } from '../s3/open.ts';

export interface Places extends DatabasePlaces, Partial<S3Options> {
  readonly dataDir: string;
  readonly artifacts: ArtifactStoreKind;
}

/** The stores of a service, which may be running, for the work of a command. */
export interface OpenPlaces {
  readonly database: Database;
  readonly artifacts: ArtifactStore;
  /** Set when the artifacts are not in the data directory. */
  readonly remote?: {
    /** Its name for people. */
    readonly label: string;
    damaged(): AsyncIterable<DamagedFile>;
    /** Returns the number of files that no capture names. */
    unnamed?(): Promise<number>;
  };
}

export function using<T>(places: Places, work: (open: OpenPlaces) => Promise<T>): Promise<T> {
  switch (places.artifacts) {
    case 'files':
      return usingFiles(places, work);
    case 'gridfs':
      return usingGridfs(places, work);
    case 's3':
      return usingS3(places, work);
  }
}

async function usingFiles<T>(places: Places, work: (open: OpenPlaces) => Promise<T>): Promise<T> {
  const data = createDataDirectory(
    existing(places.dataDir, '; --data-dir names it, and --artifacts gridfs files in MongoDB'),
  );
  // Without the id of its store, no capture of the directory can be read.
  await readStore(places.dataDir);
  const database = await whenUp((onState) => openExisting({ ...places, onState }));
  try {
    return await work({ database, artifacts: createFileArtifactStore(data) });
  } finally {
    await database.close();
    await data.close();
  }
}

/** Works without the data directory, too: it has only captures that wait for delivery. */
async function usingGridfs<T>({ mongoUrl }: Places, work: (open: OpenPlaces) => Promise<T>): Promise<T> {
  const { createGridfsStore } = await import('../gridfs/gridfs-store.ts');
  const { damagedFiles } = await import('../gridfs/damaged-files.ts');
  const mongo = await whenUp((onState) => openMongo({ url: mongoUrl ?? '', onState }));
  const { database, ask } = mongo;
  try {
    const artifacts = createGridfsStore(database, ask);
    return await work({
      database: mongo,
      artifacts,
      remote: { label: 'GridFS', damaged: () => damagedFiles(database, ask) },
    });
  } finally {
    await mongo.close();
  }
}

async function usingS3<T>(places: Places, work: (open: OpenPlaces) => Promise<T>): Promise<T> {
  const { s3ClientOf } = await import('../s3/open.ts');
  const { createS3Store } = await import('../s3/s3-store.ts');
  const { damagedImages, unnamedImages } = await import('../s3/check.ts');
  const client = s3ClientOf(places);
  const database = await whenUp((onState) => openExisting({ ...places, onState }));
  try {
    const remote = {
      label: 'the object store',
      damaged: () => damagedImages(client),
      unnamed: () => unnamedImages(client),
    };
    return await work({ database, artifacts: createS3Store(client), remote });
  } finally {
    await database.close();
    client.close();
  }
}

/** Rejects with the reason when the database is not available. */
async function whenUp<T extends Database>(
  opening: (onState: (state: unknown, reason: string) => void) => Promise<T>,
): Promise<T> {
  let why = '';
  const database = await opening((_, reason) => {
    why = reason;
  });
  if (database.results.state === 'up') return database;
  await database.close();
  throw new Error(why);
}

export function existing(path: string, advice = ''): string {
  if (existsSync(path)) return resolve(path);
  throw new Error(`${resolve(path)} does not exist${advice}`);
}
