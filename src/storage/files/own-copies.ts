import type { StoredRecord } from '../../capture/result/result.ts';
import type { ArtifactStore, LocalStore } from '../ports/artifact-store.ts';
import type { LocalCopies } from '../ports/local-copies.ts';

/**
 * Copies for a store in the data directory itself: a published capture counts as delivered. So the capture store is the
 * same for every artifact store, and need not know where the files are.
 */
export function createOwnCopies(local: LocalStore, { keepsFailed }: { readonly keepsFailed: boolean }): LocalCopies {
  return {
    copyFailed: keepsFailed ? local.copyRecord : null,
    deliverLater: null,
    probe: local.probe,
    stage: local.stage,
    keepRecord: local.keepRecord,
    has: (id) => hasCopy(local, id),
    record: local.record,
    deliver: (record) => namingStore(record, local),
    release: async (records) => {
      const failed = records.filter(({ artifacts }) => artifacts === null);
      if (failed.length > 0 && !keepsFailed) await local.release(failed.map(({ id }) => id));
    },
  };
}

function hasCopy(local: LocalStore, id: number): Promise<boolean> {
  return local.record(id).then(
    (record) => record !== undefined,
    () => true,
  );
}

/** Corrects the store's name: a record that waited for the database may name the store of an earlier process. */
export async function namingStore(record: StoredRecord, artifacts: Pick<ArtifactStore, 'id'>): Promise<StoredRecord> {
  if (record.artifacts === null) return record;
  const store = await artifacts.id();
  return record.artifacts.store === store ? record : { ...record, artifacts: { ...record.artifacts, store } };
}
