import { CapstanError } from '../../capture/errors.ts';
import { type ArtifactStore, changedStore } from '../ports/artifact-store.ts';

/** Opens a store on first use. */
export type OtherStore = () => Promise<ArtifactStore>;

/**
 * A store whose database may also have captures in other stores, made by other processes or before a move. These can be
 * read, and are neither listed nor removed.
 */
export function withOthers(own: ArtifactStore, others: readonly OtherStore[]): ArtifactStore {
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
