import type { EventLog, EventLogOptions } from './event-log.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { JobStore } from './job-store.ts';
import type { NodeLeases } from './node-leases.ts';
import type { ResultStore } from './result-store.ts';

/** A database, opened: one implementation of each port that is kept in it. */
export interface Database {
  readonly results: ResultStore;
  readonly jobs: JobStore;
  readonly idempotency: IdempotencyStore;
  readonly nodes: NodeLeases;
  /** Creates the event log of this process. */
  eventLog(options: EventLogOptions): EventLog;
  /** Writes what is under way; every call after it rejects with `database_unavailable`. */
  close(): Promise<void>;
}
