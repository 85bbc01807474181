/** The time at which a store was last used, by the clock of the process that used it. */
export interface LastUse {
  /** Milliseconds since the Unix epoch; undefined before the first use. Rejects when the store cannot be read. */
  read(): Promise<number | undefined>;
  /** Notes that the store is used at this time. Never rejects. */
  note(ms: number): Promise<void>;
}
