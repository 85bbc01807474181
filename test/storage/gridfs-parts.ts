import { join } from 'node:path';
import { CaptureStore } from '../../src/storage/captures/capture-store.ts';
import { createDataDirectory, type DataDirectory } from '../../src/storage/files/data-directory.ts';
import { createFileArtifactStore } from '../../src/storage/files/file-artifact-store.ts';
import { createFileOutbox } from '../../src/storage/files/file-outbox.ts';
import { gridfsBackend } from '../../src/storage/gridfs/backend.ts';
import { type MongoDatabase, openMongo } from '../../src/storage/mongo/open.ts';
import type { ArtifactStore, LocalStore } from '../../src/storage/ports/artifact-store.ts';
import type { Outbox } from '../../src/storage/ports/outbox.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { createRemoteStore } from '../../src/storage/remote/remote-store.ts';
import { createUploads } from '../../src/storage/remote/uploads.ts';

/** The parts that one process with captures in GridFS has over a data directory and a MongoDB database. */
export interface GridfsParts {
  readonly data: DataDirectory;
  readonly mongo: MongoDatabase;
  /** The artifact store as clients read it. */
  readonly artifacts: ArtifactStore;
  readonly local: LocalStore;
  readonly remote: ArtifactStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  readonly captureStore: CaptureStore;
  readonly problems: readonly unknown[];
  close(): Promise<void>;
}

type Changeable = Pick<GridfsParts, 'local' | 'remote' | 'results' | 'outbox'>;

export interface GridfsPartsOptions {
  /** Wraps parts before the capture store gets them. */
  readonly change?: (parts: Changeable & Pick<GridfsParts, 'mongo'>) => Partial<Changeable>;
}

export async function openGridfsParts(
  directory: string,
  url: string,
  { change }: GridfsPartsOptions = {},
): Promise<GridfsParts> {
  const data = createDataDirectory(join(directory, 'data'));
  const mongo = await openMongo({ url });
  const made = {
    local: createFileArtifactStore(data),
    remote: createRemoteStore(gridfsBackend(mongo.database, mongo.ask)),
    results: mongo.results,
    outbox: createFileOutbox(data),
  };
  const parts = { ...made, ...change?.({ ...made, mongo }) };
  const { artifacts, copies } = createUploads(parts.local, parts.remote);
  const problems: unknown[] = [];
  const { results, outbox } = parts;
  const onProblem = (problem: unknown) => problems.push(problem);
  const captureStore = new CaptureStore({ artifacts, copies, results, outbox, onProblem });
  await captureStore.start();
  return {
    data,
    mongo,
    ...parts,
    artifacts,
    captureStore,
    problems,
    close: async () => {
      await captureStore.close();
      await mongo.close();
      await data.close();
    },
  };
}
