import type { ArtifactStoreKind } from '../capture/artifacts.ts';
import { holdLock } from './files/held-lock.ts';
import { retentionLock } from './files/layout.ts';
import type { MongoDatabase } from './mongo/open.ts';
import type { ArtifactStore, LocalStore } from './ports/artifact-store.ts';
import type { Database } from './ports/database.ts';
import { createOwnCopies } from './ports/local-copies.ts';
import type { OpenArtifacts } from './ports/open-artifacts.ts';
import { type OtherStore, withOthers } from './remote/with-others.ts';
import type { S3Options } from './s3/open.ts';

interface StoreParts {
  readonly dataDir: string;
  readonly local: LocalStore;
  readonly database: Database;
  readonly mongo: MongoDatabase | undefined;
  readonly s3: Partial<S3Options>;
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
