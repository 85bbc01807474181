import { takeLock } from '../documents/lock.ts';
import { mongoDocuments } from '../mongo/document-store.ts';
import type { MongoDatabase } from '../mongo/open.ts';
import type { LocalStore } from '../ports/artifact-store.ts';
import type { OpenArtifacts } from '../ports/open-artifacts.ts';
import { createGridfsArtifactStore } from './gridfs-artifact-store.ts';
import { createSweep } from './sweep.ts';
import { createUploads } from './uploads.ts';
import { withCopies } from './with-copies.ts';

export interface GridfsOptions {
  readonly mongo: MongoDatabase;
  /** The store of the data directory, in which captures wait for delivery. */
  readonly local: LocalStore;
  /** Called with failures of background work. */
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the store and starts to delete, in the background, files that no capture names. */
export function openGridfs({ mongo: { database, ask }, local, onProblem }: GridfsOptions): OpenArtifacts {
  const remote = createGridfsArtifactStore(database, ask);
  const documents = mongoDocuments(database, ask);
  const sweep = createSweep({ database, ask, onProblem });
  sweep.start();
  return {
    artifacts: withCopies(remote, local),
    copies: createUploads(local, remote),
    lock: () => takeLock(documents, 'retention').catch(() => undefined),
    stop: () => sweep.stop(),
  };
}
