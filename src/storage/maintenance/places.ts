import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ArtifactStoreKind, type DatabasePlaces, databaseOf } from '../../capture/artifacts.ts';
import type { ObjectStoreConfig } from '../../config/slices.ts';
import { createDataDirectory } from '../files/data-directory.ts';
import { createFileArtifactStore } from '../files/file-artifact-store.ts';
import { readStore } from '../files/store-id.ts';
import type { DamagedFile } from '../gridfs/damaged-files.ts';
import type { MongoDatabase } from '../mongo/open.ts';
import { openDatabase } from '../open-database.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Database } from '../ports/database.ts';

export interface Places extends DatabasePlaces, Partial<ObjectStoreConfig> {
  readonly dataDir: string;
  readonly artifacts: ArtifactStoreKind;
}

/** The artifacts of a service, for the work of a command. */
interface OpenStore {
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

/** The stores of a service, which may be running. */
export interface OpenPlaces extends OpenStore {
  readonly database: Database;
}

/** A store that is found, and is opened once the database is. */
interface FoundStore {
  open(mongo: MongoDatabase | undefined): Promise<OpenStore>;
  close?(): void | Promise<void>;
}

const FINDERS: Readonly<Record<ArtifactStoreKind, (places: Places) => Promise<FoundStore>>> = {
  files: async ({ dataDir }) => {
    const data = createDataDirectory(
      existing(dataDir, '; --data-dir names it, and --artifacts gridfs files in MongoDB'),
    );
    // Without the id of its store, no capture of the directory can be read.
    await readStore(dataDir);
    return { open: async () => ({ artifacts: createFileArtifactStore(data) }), close: () => data.close() };
  },
  // Works without the data directory, too: it has only captures that wait for delivery.
  gridfs: async () => ({
    open: async (mongo) => {
      if (mongo === undefined) throw new Error('artifacts in GridFS need a MongoDB database');
      const { createGridfsStore } = await import('../gridfs/gridfs-store.ts');
      const { damagedFiles } = await import('../gridfs/damaged-files.ts');
      const { database, ask } = mongo;
      const remote = { label: 'GridFS', damaged: () => damagedFiles(database, ask) };
      return { artifacts: createGridfsStore(database, ask), remote };
    },
  }),
  s3: async (places) => {
    const { s3ClientOf } = await import('../s3/open.ts');
    const { createS3Store } = await import('../s3/s3-store.ts');
    const { damagedImages, unnamedImages } = await import('../s3/check.ts');
    const client = s3ClientOf(places);
    const remote = {
      label: 'the object store',
      damaged: () => damagedImages(client),
      unnamed: () => unnamedImages(client),
    };
    return { open: async () => ({ artifacts: createS3Store(client), remote }), close: () => client.close() };
  },
};

/** Opens the stores for the work. Rejects with the reason when the database is not available. */
export async function using<T>(places: Places, work: (open: OpenPlaces) => Promise<T>): Promise<T> {
  const store = await FINDERS[places.artifacts](places);
  try {
    if (databaseOf(places) === undefined) throw new Error('no database is configured: set --db-path or --mongo-url');
    let why = '';
    const { database, mongo } = await openDatabase({
      ...places,
      onState: (_, reason) => {
        why = reason;
      },
    });
    try {
      if (database.results.state !== 'up') throw new Error(why);
      return await work({ database, ...(await store.open(mongo)) });
    } finally {
      await database.close();
    }
  } finally {
    await store.close?.();
  }
}

export function existing(path: string, advice = ''): string {
  if (existsSync(path)) return resolve(path);
  throw new Error(`${resolve(path)} does not exist${advice}`);
}
