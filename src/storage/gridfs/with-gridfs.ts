import { CapstanError } from '../../capture/errors.ts';
import type { MongoDatabase } from '../mongo/open.ts';
import { type ArtifactStore, changedStore } from '../ports/artifact-store.ts';

/**
 * A store in the data directory of a process whose database may also have captures in GridFS, made by other processes.
 * These can be read, and are neither listed nor removed.
 */
export function withGridfs(local: ArtifactStore, { database, ask }: MongoDatabase): ArtifactStore {
  /** Reads from GridFS, which is loaded on first use. While the database is away, the capture is not found. */
  async function fromGridfs<T>(read: (store: ArtifactStore) => Promise<T | undefined>): Promise<T | undefined> {
    const { createGridfsStore } = await import('./gridfs-store.ts');
    return read(createGridfsStore(database, ask)).catch((error: unknown) => {
      if (error instanceof CapstanError && error.code === 'artifact_damaged') throw error;
      return undefined;
    });
  }

  return changedStore(local, {
    info: async (id) => (await local.info(id)) ?? fromGridfs((store) => store.info(id)),
    open: async (id, kind) => (await local.open(id, kind)) ?? fromGridfs((store) => store.open(id, kind)),
  });
}
