/** A decided removal of captures. After a crash, the process that finds it completes it. */
export interface IntendedRemoval {
  readonly ids: readonly number[];
  /** Forgets the removal, which is complete or was never started. */
  done(): Promise<void>;
}

/** Notes and removals that ended processes left; this process owns them now. */
export interface Adopted {
  /** Ids of the captures whose records wait, smallest first. */
  readonly waiting: readonly number[];
  readonly removals: readonly IntendedRemoval[];
}

/**
 * Notes on disk about what the database has not received yet: the ids of captures whose records wait for it beside
 * their files, and removals.
 */
export interface Outbox {
  /**
   * Notes that a record waits. Resolves when the note would survive a power failure. Rejects with `storage_full` or
   * `internal`.
   */
  add(id: number): Promise<void>;
  /**
   * Whether this process has noted that a record waits, and the note was not withdrawn. Rejects with `storage_full`,
   * `storage_unavailable` or `internal` when the note was lost and cannot be written again.
   */
  has(id: number): Promise<boolean>;
  /** Removes a note; false when it was withdrawn. Rejects as `has` does. */
  remove(id: number): Promise<boolean>;
  /** Sets a note aside: the database will never accept the record, which stays on disk for an operator. */
  setAside(id: number): Promise<void>;
  /** Returns which of these wait for the database, in any process. */
  waiting(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Removes notes from the outboxes of all processes. Returns the ids that waited. */
  withdraw(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /**
   * Notes a removal. Resolves when the note would survive a power failure. Rejects with `storage_full` or `internal`.
   */
  intend(ids: readonly number[]): Promise<IntendedRemoval>;
  /** Removes what ended processes left, except what the database does not know yet. */
  sweep(): Promise<void>;
  /** Takes over the records and removals of ended processes, except records whose capture `isThere` does not find. */
  adopt(isThere: (id: number) => Promise<boolean>): Promise<Adopted>;
}
