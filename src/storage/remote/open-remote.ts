import type { ArtifactStore, LocalStore } from '../ports/artifact-store.ts';
import type { Database } from '../ports/database.ts';
import type { OpenArtifacts } from '../ports/open-artifacts.ts';
import type { Sweep } from './sweep.ts';
import { createUploads } from './uploads.ts';
import { withCopies } from './with-copies.ts';

interface OpenRemoteOptions {
  readonly remote: ArtifactStore;
  /** The store of the data directory, in which captures wait for delivery. */
  readonly local: LocalStore;
  readonly sweep: Sweep;
  readonly database: Pick<Database, 'lock'>;
  /** Whether captures are answered before their upload. */
  readonly later: boolean;
}

/** Starts to delete, in the background, files that no capture names. */
export function openRemote({ remote, local, sweep, database, later }: OpenRemoteOptions): OpenArtifacts {
  const copies = createUploads(local, remote, { later });
  sweep.start();
  return {
    artifacts: withCopies(remote, local, copies),
    copies,
    lock: () => database.lock('retention').catch(() => undefined),
    stop: () => sweep.stop(),
  };
}
