import type { StoredRecord } from '../../capture/result/result.ts';
import type { ArtifactStore, CapturedFiles, LocalStore, StagedCapture } from './artifact-store.ts';

/**
 * The port to the local copies of captures. A capture is written and synced in the data directory before anything else
 * happens to it; then it is delivered to the artifact store. Copies of failed captures that the database has are not
 * synced.
 */
export interface LocalCopies {
  /**
   * Copies the record of a failed capture that the database has, so that a lost database can be rebuilt. Null: such
   * records have no copy.
   */
  readonly copyFailed: ((record: StoredRecord) => Promise<void>) | null;
  /**
   * As `deliver`, for a capture that is answered once its record is written, and delivered after that. Null: captures
   * are delivered first, because other processes read them.
   */
  readonly deliverLater: ((id: number) => Promise<StoredRecord | undefined>) | null;
  /** As `LocalStore.probe`. */
  probe(): Promise<void>;
  /** Writes the files of a capture and its whole record, as `LocalStore.stage` does. */
  stage(record: StoredRecord, files: CapturedFiles): Promise<StagedCapture>;
  /** Writes the record of a failed capture, as `LocalStore.keepRecord` does. */
  keepRecord(record: StoredRecord): Promise<void>;
  /** Whether there is a copy, of a stored or failed capture; files whose record cannot be read are one, too. */
  has(id: number): Promise<boolean>;
  /** The record of a copy; undefined when there is none. */
  record(id: number): Promise<StoredRecord | undefined>;
  /**
   * Makes a published capture readable in the artifact store. Resolves with the record that belongs to the files there,
   * which is that of the first capture with this id; undefined when there are no files. Idempotent. Rejects with
   * `database_unavailable` or `artifacts_unavailable` when the store cannot be reached.
   */
  deliver(record: StoredRecord): Promise<StoredRecord | undefined>;
  /** Removes what need not stay of copies that are delivered and whose records the database has. */
  release(records: readonly StoredRecord[]): Promise<void>;
}

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

export function hasCopy(local: LocalStore, id: number): Promise<boolean> {
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

/**
 * Delivers the files of a capture before its record is written; resolves as `LocalCopies.deliver` does. Resolves with
 * the record at once when the capture has no files, or when they are delivered later.
 */
export async function deliverFirst(copies: LocalCopies, record: StoredRecord): Promise<StoredRecord | undefined> {
  return record.artifacts === null || copies.deliverLater !== null ? record : copies.deliver(record);
}
