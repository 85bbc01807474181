import type { ArtifactStoreKind } from '../capture/artifacts.ts';
import { CapstanError } from '../capture/errors.ts';
import type { ObjectStoreConfig } from '../config/slices.ts';
import { holdLock } from './files/held-lock.ts';
import { retentionLock } from './files/layout.ts';
import type { MongoDatabase } from './mongo/open.ts';
import { type ArtifactStore, changedStore, type LocalStore } from './ports/artifact-store.ts';
import type { Database } from './ports/database.ts';
import { createOwnCopies } from './ports/local-copies.ts';
import type { OpenArtifacts } from './ports/open-artifacts.ts';

/** Opens a store on first use. */
type OtherStore = () => Promise<ArtifactStore>;

interface StoreParts {
  readonly dataDir: string;
  readonly local: LocalStore;
  readonly database: Database;
  readonly mongo: MongoDatabase | undefined;
  readonly s3: Partial<ObjectStoreConfig>;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens each kind of artifact store. */
const OPENERS: Readonly<Record<ArtifactStoreKind, (parts: StoreParts) => Promise<OpenArtifacts>>> = {
  files: async ({ dataDir, local, database }) => ({
    artifacts: local,
    // Processes that share a database could remove a record from it, but not from this data directory.
    copies: createOwnCopies(local, { keepsFailed: !database.isShared }),
    lock: async () => holdLock(retentionLock(dataDir)),
    stop: () => Promise.resolve(),
  }),
  gridfs: async ({ local, mongo, onProblem }) => {
    if (mongo === undefined) throw new Error('artifacts in GridFS need a MongoDB database');
    // Loaded only when it is used.
    const { openGridfs } = await import('./gridfs/open.ts');
    return openGridfs({ mongo, local, onProblem });
  },
  s3: async ({ local, database, s3, onProblem }) => {
    const { openS3 } = await import('./s3/open.ts');
    return openS3({ options: s3, local, database, onProblem });
  },
};

/** Opens a store, through which captures in the other stores of the configuration can be read. */
export async function openArtifactStore(kind: ArtifactStoreKind, parts: StoreParts): Promise<OpenArtifacts> {
  const opened = await OPENERS[kind](parts);
  return { ...opened, artifacts: withOthers(opened.artifacts, otherStores(kind, parts)) };
}

/** The other stores, each of which is loaded on first use. */
function otherStores(kind: ArtifactStoreKind, { mongo, s3 }: StoreParts): OtherStore[] {
  const others: OtherStore[] = [];
  if (mongo !== undefined && kind !== 'gridfs') {
    others.push(async () => (await import('./gridfs/gridfs-store.ts')).createGridfsStore(mongo.database, mongo.ask));
  }
  if (s3.s3Bucket != null && kind !== 's3') {
    let opening: Promise<ArtifactStore> | undefined;
    others.push(() => (opening ??= import('./s3/open.ts').then(({ openS3Store }) => openS3Store(s3))));
  }
  return others;
}

/**
 * A store whose database may also have captures in other stores, made by other processes or before a move. These can be
 * read, and are neither listed nor removed.
 */
function withOthers(own: ArtifactStore, others: readonly OtherStore[]): ArtifactStore {
  /** While another store is away, the capture is not found. */
  async function fromOthers<T>(read: (store: ArtifactStore) => Promise<T | undefined>): Promise<T | undefined> {
    for (const open of others) {
      const found = await read(await open()).catch((error: unknown) => {
        if (error instanceof CapstanError && error.code === 'artifact_damaged') throw error;
        return undefined;
      });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  if (others.length === 0) return own;
  return changedStore(own, {
    info: async (id, how) => (await own.info(id, how)) ?? fromOthers((store) => store.info(id)),
    open: async (id, kind, how) => (await own.open(id, kind, how)) ?? fromOthers((store) => store.open(id, kind)),
  });
}
