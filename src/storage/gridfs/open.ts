import type { MongoDatabase } from '../mongo/open.ts';
import type { LocalStore } from '../ports/artifact-store.ts';
import type { OpenArtifacts } from '../ports/open-artifacts.ts';
import { createUploads } from '../remote/uploads.ts';
import { withCopies } from '../remote/with-copies.ts';
import { createGridfsStore } from './gridfs-store.ts';
import { createSweep } from './sweep.ts';

export interface GridfsOptions {
  readonly mongo: MongoDatabase;
  /** The store of the data directory, in which captures wait for delivery. */
  readonly local: LocalStore;
  /** Called with failures of background work. */
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the store and starts to delete, in the background, files that no capture names. */
export function openGridfs({ mongo, local, onProblem }: GridfsOptions): OpenArtifacts {
  const { database, ask } = mongo;
  const remote = createGridfsStore(database, ask);
  const sweep = createSweep({ database, ask, onProblem });
  sweep.start();
  const copies = createUploads(local, remote);
  return {
    artifacts: withCopies(remote, local, copies),
    copies,
    lock: () => mongo.lock('retention').catch(() => undefined),
    stop: () => sweep.stop(),
  };
}
