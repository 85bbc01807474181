import type { DetailedResult, Result } from '../capture/result.ts';

/** A decided removal of captures. After a crash, the process that finds it completes it. */
export interface IntendedRemoval {
  readonly ids: readonly number[];
  /** Forgets the removal, which is complete or was never started. */
  done(): Promise<void>;
}

/** Records and removals left by ended processes, now owned by this one. */
export interface Adopted {
  /** Ids of the records, smallest first. */
  readonly records: readonly number[];
  readonly removals: readonly IntendedRemoval[];
}

/** Changes on disk that the database has not received yet: records, one file each, and removals. */
export interface Outbox {
  /** Adds a record. Resolves when it would survive a power failure. Rejects with `storage_full` or `internal`. */
  add(record: DetailedResult): Promise<void>;
  /** Returns a record; undefined when it is not in the outbox. */
  read(id: number): Promise<DetailedResult | undefined>;
  /** Removes a record; false when it was withdrawn and is not in the outbox any more. */
  remove(id: number): Promise<boolean>;
  /** Sets a record aside that the database will never accept: it stays on disk for an operator. */
  setAside(id: number): Promise<void>;
  /** Returns which of these wait for the database, in any process. */
  waiting(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Removes records from the outboxes of all processes. Returns the ids that waited. */
  withdraw(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /**
   * Notes a removal. Resolves when the note would survive a power failure. Rejects with `storage_full` or `internal`.
   */
  intend(ids: readonly number[]): Promise<IntendedRemoval>;
  /** Removes what ended processes left, except what the database does not know yet. */
  sweep(): Promise<void>;
  /** Takes over what ended processes left, except records that `wanted` refuses; removes the rest. */
  adopt(wanted: (record: Result) => Promise<boolean>): Promise<Adopted>;
}
