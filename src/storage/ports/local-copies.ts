import type { StoredRecord } from '../../capture/result/result.ts';
import type { LocalStore } from './artifact-store.ts';

/**
 * The port to the local copies of captures. A capture is written and synced in the data directory before anything else
 * happens to it; then it is delivered to the artifact store. Copies of failed captures that the database has are not
 * synced.
 */
export interface LocalCopies extends Pick<LocalStore, 'probe' | 'stage' | 'keepRecord'> {
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
