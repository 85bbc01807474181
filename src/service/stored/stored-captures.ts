import { CapstanError } from '../../capture/errors.ts';
import type { CaptureService } from '../capture-service.ts';
import type { OpenedParts } from '../opened-parts.ts';

/** Removes stored captures, and says why one is missing. */
export function storedCaptures({ storage, cluster, logger }: Pick<OpenedParts, 'storage' | 'cluster' | 'logger'>) {
  const store = storage.captureStore;
  /** Why a capture that is not found may still appear: it may wait on a worker for the database. */
  const pendingOnWorkers = (): CapstanError | undefined => {
    const isPending = cluster !== undefined && cluster.stats().outbox > 0;
    return isPending
      ? new CapstanError('artifact_pending', 'The capture may still wait on a worker for the database.')
      : undefined;
  };

  const whyMissing: CaptureService['whyMissing'] = async (id) => {
    const isElsewhere = await store.isElsewhere(id).catch(() => false);
    if (isElsewhere) return new CapstanError('artifact_elsewhere');
    return pendingOnWorkers() ?? new CapstanError('not_found', `There is no screenshot with the id ${id}.`);
  };

  const remove: CaptureService['remove'] = async (id, by = {}) => {
    if (!(await store.has(id))) {
      const pending = pendingOnWorkers();
      if (pending !== undefined) throw pending;
      return false;
    }
    if (await store.isElsewhere(id)) throw new CapstanError('artifact_elsewhere');
    if ((await store.remove([id])).held.includes(id)) {
      throw new CapstanError('capture_held', `The capture ${id} is kept by a hold.`);
    }
    logger.info({ capture_id: id, ...by }, 'a capture was removed');
    return true;
  };

  return {
    whyMissing,
    remove,
    /** Removes captures, except held ones and those whose files another data directory holds. */
    removeHere: async (captures: readonly number[]): Promise<void> => {
      for (const id of captures) if (!(await store.isElsewhere(id))) await store.remove([id]);
    },
  };
}
