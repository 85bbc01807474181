import { mongoLease } from '../mongo/lease.ts';
import type { MongoDatabase } from '../mongo/open.ts';
import type { ArtifactStore, LocalStore } from '../ports/artifact-store.ts';
import type { LocalCopies } from '../ports/local-copies.ts';
import type { HeldLock } from '../ports/lock.ts';
import { createGridfsArtifactStore } from './gridfs-artifact-store.ts';
import { createSweep } from './sweep.ts';
import { createUploads } from './uploads.ts';
import { withCopies } from './with-copies.ts';

/** The artifact store in GridFS and what a process needs to use it. */
export interface OpenGridfs {
  readonly artifacts: ArtifactStore;
  readonly copies: LocalCopies;
  /** Takes the lock of the retention; undefined when another process holds it. Never rejects. */
  lock(): Promise<HeldLock | undefined>;
  stop(): Promise<void>;
}

export interface GridfsOptions {
  readonly mongo: MongoDatabase;
  /** The store of the data directory, in which captures wait for delivery. */
  readonly local: LocalStore;
  /** Called with failures of background work. */
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the store and starts to delete, in the background, files that no capture names. */
export function openGridfs({ mongo: { database, ask }, local, onProblem }: GridfsOptions): OpenGridfs {
  const remote = createGridfsArtifactStore(database, ask);
  const sweep = createSweep({ database, ask, onProblem });
  sweep.start();
  return {
    artifacts: withCopies(remote, local),
    copies: createUploads(local, remote),
    lock: mongoLease(database, ask, 'retention'),
    stop: () => sweep.stop(),
  };
}
