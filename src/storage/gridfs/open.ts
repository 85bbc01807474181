import type { MongoDatabase } from '../mongo/open.ts';
import type { LocalStore } from '../ports/artifact-store.ts';
import type { OpenArtifacts } from '../ports/open-artifacts.ts';
import { openRemote } from '../remote/open-remote.ts';
import { createGridfsStore } from './gridfs-store.ts';
import { createSweep } from './sweep.ts';

interface GridfsOptions {
  readonly mongo: MongoDatabase;
  readonly local: LocalStore;
  /** Called with failures of background work. */
  readonly onProblem: (problem: unknown) => void;
}

export function openGridfs({ mongo, local, onProblem }: GridfsOptions): OpenArtifacts {
  const { database, ask } = mongo;
  const sweep = createSweep({ database, ask, onProblem });
  // Other processes read a capture as soon as its record is there.
  return openRemote({ remote: createGridfsStore(database, ask), local, sweep, database: mongo, later: false });
}
