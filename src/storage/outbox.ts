import type { DetailedResult, Result } from '../capture/result.ts';

/** A removal of captures that is decided. Whoever finds it after a crash finishes it. */
export interface IntendedRemoval {
  readonly ids: readonly number[];
  /** It is finished, or was never begun. */
  done(): Promise<void>;
}

/** What processes left that are gone, now this one's. */
export interface Adopted {
  /** Ids of the records, the smallest first. */
  readonly records: readonly number[];
  readonly removals: readonly IntendedRemoval[];
}

/** What the database has to be told yet, on the disk: records, one file each, and removals. */
export interface Outbox {
  /** Resolves when the record would survive a power cut. Rejects with `storage_full` or `internal`. */
  add(record: DetailedResult): Promise<void>;
  /** Undefined when it is not there. */
  read(id: number): Promise<DetailedResult | undefined>;
  /** False when it is not there: somebody has withdrawn it. */
  remove(id: number): Promise<boolean>;
  /** The database will never take it: it stays on the disk for a person to look at. */
  setAside(id: number): Promise<void>;
  /** Which of these wait for the database, in whichever process. */
  waiting(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Removes records from the outboxes of all processes. Gives the ids of those that waited. */
  withdraw(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Resolves when the intention would survive a power cut. Rejects with `storage_full` or `internal`. */
  intend(ids: readonly number[]): Promise<IntendedRemoval>;
  /** Removes what processes left that are gone, but for what the database has to be told. */
  sweep(): Promise<void>;
  /** Takes over what processes left that are gone, but for records that `wanted` refuses; removes what else there is. */
  adopt(wanted: (record: Result) => Promise<boolean>): Promise<Adopted>;
}
