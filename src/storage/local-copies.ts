import type { DetailedResult } from '../capture/result.ts';
import type { ArtifactStore, CapturedFiles, StagedCapture } from './artifact-store.ts';

/**
 * The port to the local copies of captures. A capture is written and synced in the data directory before anything else
 * happens to it; then it is delivered to the artifact store.
 */
export interface LocalCopies {
  /** Writes the files of a capture and its whole record, as `ArtifactStore.stage` does. */
  stage(record: DetailedResult, files: CapturedFiles): Promise<StagedCapture>;
  has(id: number): Promise<boolean>;
  /** The record of a copy; undefined when there is none. */
  record(id: number): Promise<DetailedResult | undefined>;
  /**
   * Makes a published capture readable in the artifact store. Resolves with the record that belongs to the files there,
   * which is that of the first capture with this id; undefined when there are no files. Idempotent. Rejects with
   * `database_unavailable` when the store cannot be reached.
   */
  deliver(record: DetailedResult): Promise<DetailedResult | undefined>;
  /** Removes the copy of a capture that is delivered and whose record the database has. */
  release(id: number): Promise<void>;
}

/** Copies for a store in the data directory itself: a published capture counts as delivered. */
export function createOwnCopies(artifacts: ArtifactStore): LocalCopies {
  return {
    stage: (record, files) => artifacts.stage(record, files),
    has: (id) => artifacts.has(id),
    record: (id) => artifacts.record(id),
    deliver: (record) => namingStore(record, artifacts),
    release: () => Promise.resolve(),
  };
}

/** Corrects the store's name: a record that waited in an outbox may name the store of an earlier process. */
export async function namingStore(
  record: DetailedResult,
  artifacts: Pick<ArtifactStore, 'id'>,
): Promise<DetailedResult> {
  if (record.artifacts === null) return record;
  const store = await artifacts.id();
  return record.artifacts.store === store ? record : { ...record, artifacts: { ...record.artifacts, store } };
}
