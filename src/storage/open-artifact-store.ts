import { ARTIFACT_STORE_KINDS, ARTIFACT_STORES, type ArtifactStoreKind } from '../capture/artifacts/artifacts.ts';
import type { ObjectStoreConfig } from '../config/slices.ts';
import { isDamagedArtifact } from './failures/store-errors.ts';
import { holdLock } from './files/held-lock.ts';
import { retentionLock } from './files/layout.ts';
import { createOwnCopies } from './files/own-copies.ts';
import type { MongoDatabase } from './mongo/open.ts';
import type { ArtifactStore, LocalStore } from './ports/artifact-store.ts';
import type { Database } from './ports/database.ts';
import type { LocalCopies } from './ports/local-copies.ts';
import type { HeldLock } from './ports/lock.ts';
import { changedStore } from './records/captured-files.ts';
import type { Backend } from './remote/backend.ts';
import { createRemoteStore } from './remote/remote-store.ts';
import { createSweep } from './remote/sweep.ts';
import { createUploads } from './remote/uploads.ts';

interface StoreParts {
  /** The store of the data directory. */
  readonly local: LocalStore;
  readonly mongo: MongoDatabase | undefined;
  readonly s3: Partial<ObjectStoreConfig>;
  /** Called with failures of background work. */
  readonly onProblem?: (problem: unknown) => void;
}

export interface OpenStore {
  readonly artifacts: ArtifactStore;
  /** The store behind them, where they are outside of the data directory. */
  readonly backend?: Backend;
}

/** Opens each kind of artifact store; loaded only when it is used. */
const OPENERS: Readonly<Record<ArtifactStoreKind, (parts: StoreParts) => Promise<OpenStore>>> = {
  files: async ({ local }) => ({ artifacts: local }),
  gridfs: async ({ mongo }) => {
    if (mongo === undefined) throw new Error('artifacts in GridFS need a MongoDB database');
    const { gridfsBackend } = await import('./gridfs/backend.ts');
    return remoteStore(gridfsBackend(mongo.database, mongo.ask));
  },
  s3: async ({ s3, onProblem }) => {
    const { createS3Client } = await import('./s3/client.ts');
    const { s3Backend } = await import('./s3/backend.ts');
    return remoteStore(s3Backend(createS3Client(s3, { onProblem }), s3.s3Presign));
  },
};

function remoteStore(backend: Backend): OpenStore {
  return { artifacts: createRemoteStore(backend), backend };
}

/** Opens a store for reading and for the work of a command. */
export function openStore(kind: ArtifactStoreKind, parts: StoreParts): Promise<OpenStore> {
  return OPENERS[kind](parts);
}

interface ServiceParts extends StoreParts {
  readonly dataDir: string;
  readonly database: Database;
}

/** Opens the store of a service, through which captures in the other stores of the configuration can be read. */
export async function openArtifactStore(kind: ArtifactStoreKind, parts: ServiceParts): Promise<OpenArtifacts> {
  const opened = await openInService(kind, parts);
  return { ...opened, artifacts: withOthers(opened.artifacts, otherStores(kind, parts)) };
}

async function openInService(kind: ArtifactStoreKind, parts: ServiceParts): Promise<OpenArtifacts> {
  const { dataDir, local, database, onProblem } = parts;
  const { artifacts, backend } = await openStore(kind, parts);
  if (backend === undefined) {
    return {
      artifacts,
      // Processes that share a database could remove a record from it, but not from this data directory.
      copies: createOwnCopies(local, { keepsFailed: !database.isMultiProcess }),
      lock: async () => holdLock(retentionLock(dataDir)),
      stop: () => Promise.resolve(),
    };
  }
  // Other processes of a shared database read a capture as soon as its record is there.
  const uploads = createUploads(local, artifacts, { later: !database.isMultiProcess });
  const sweep = createSweep({ backend, lock: () => database.lock('artifacts.sweep'), onProblem });
  sweep.start();
  return {
    ...uploads,
    lock: () => database.lock('retention').catch(() => undefined),
    stop: () => sweep.stop().finally(backend.close),
  };
}

/** Opens a store on first use. */
type OtherStore = () => Promise<ArtifactStore>;

function otherStores(kind: ArtifactStoreKind, parts: ServiceParts): readonly OtherStore[] {
  const configured = { ...parts.s3, mongoUrl: parts.mongo };
  const others = ARTIFACT_STORE_KINDS.filter((other) => {
    const { needs } = ARTIFACT_STORES[other];
    return other !== kind && needs !== null && configured[needs] != null;
  });
  return others.map((other) => {
    let opening: Promise<OpenStore> | undefined;
    return async () => {
      opening ??= openStore(other, parts);
      try {
        return (await opening).artifacts;
      } catch (error) {
        // The next read opens it again.
        opening = undefined;
        throw error;
      }
    };
  });
}

/**
 * A store whose database may also have captures in other stores, made by other processes or before a move. These can be
 * read, and are neither listed nor removed.
 */
function withOthers(own: ArtifactStore, others: readonly OtherStore[]): ArtifactStore {
  /** Rejects when no store has the capture, and one that may have it is away. */
  async function fromOthers<T>(read: (store: ArtifactStore) => Promise<T | undefined>): Promise<T | undefined> {
    const failures: unknown[] = [];
    for (const open of others) {
      const reading = open().then(read);
      const found = await reading.catch((error: unknown) => {
        if (isDamagedArtifact(error)) throw error;
        failures.push(error);
        return undefined;
      });
      if (found !== undefined) return found;
    }
    if (failures.length > 0) throw failures[0];
    return undefined;
  }

  if (others.length === 0) return own;
  return changedStore(own, {
    info: async (id, how) => (await own.info(id, how)) ?? fromOthers((store) => store.info(id)),
    open: async (id, kind, how) => (await own.open(id, kind, how)) ?? fromOthers((store) => store.open(id, kind)),
  });
}

/** An open artifact store, and what a process needs to use it. */
interface OpenArtifacts {
  readonly artifacts: ArtifactStore;
  readonly copies: LocalCopies;
  /** Takes the lock of the retention; undefined when another process holds it. Never rejects. */
  lock(): Promise<HeldLock | undefined>;
  stop(): Promise<void>;
}
