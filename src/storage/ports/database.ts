import type { DeliveryStore } from './delivery-store.ts';
import type { EventLog, EventLogOptions } from './event-log.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { JobStore } from './job-store.ts';
import type { LabelStore } from './label-store.ts';
import type { HeldLock } from './lock.ts';
import type { QueryStore } from './query-store.ts';
import type { ReceiverStore } from './receiver-store.ts';
import type { ResultStore } from './result-store.ts';
import type { SharedLinkStore } from './shared-link-store.ts';
import type { WatchStore } from './watch-store.ts';

/** The stores that keep their data as documents. */
export interface DocumentStores {
  readonly jobs: JobStore;
  readonly watches: WatchStore;
  readonly queries: QueryStore;
  readonly receivers: ReceiverStore;
  readonly idempotency: IdempotencyStore;
  readonly sharedLinks: SharedLinkStore;
  readonly labels: LabelStore;
}

/** An open database: one implementation of each port that is stored in it. */
export interface Database extends DocumentStores {
  /** Whether several processes use it, each with a data directory and an event log of its own. */
  readonly isMultiProcess: boolean;
  readonly results: ResultStore;
  /** The lease of this process on a number of its own, see `documents/nodes.ts`. */
  readonly nodes: { claim(): Promise<number | undefined> };
  /** Takes a lock among the processes that use the database; undefined when another one holds it. */
  lock(name: string): Promise<HeldLock | undefined>;
  /** Messages to receivers. Opened when there is a first receiver. */
  openDeliveries(): DeliveryStore;
  /** Creates the event log of this process. */
  eventLog(options: EventLogOptions): EventLog;
  /** Completes running writes; every later call rejects with `database_unavailable`. */
  close(): Promise<void>;
}
