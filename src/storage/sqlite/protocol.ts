import type { FailureCode } from '../../capture/errors.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { StoreState } from '../ports/result-store.ts';
import type { EventTable } from '../records/own-event-log.ts';
import type { Remote, Synchronous } from './remote.ts';
import type { ResultTable } from './result-table.ts';

/*
 * Messages between the service's thread and the worker thread that runs SQLite: calls of the tables' methods, and their
 * answers.
 */

export interface Tables {
  readonly results: ResultTable;
  readonly events: Synchronous<EventTable>;
  readonly documents: Synchronous<DocumentStore>;
}

/** The tables as the service's thread calls them. */
export interface RemoteTables {
  readonly results: Remote<ResultTable>;
  readonly events: EventTable;
  readonly documents: DocumentStore;
}

export interface Call {
  readonly call: number;
  readonly table: keyof Tables;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type ToWorker = Call | 'close';

/**
 * `unavailable`: the file or the disk cannot be used now. `broken`: a defect in this program. `refused`: the method
 * threw a `CapstanError`.
 */
export type CallFailure =
  | { readonly kind: 'unavailable' | 'broken'; readonly reason: string }
  | {
      readonly kind: 'refused';
      readonly code: FailureCode;
      readonly reason: string;
      readonly retryAfterSeconds: number | undefined;
    };

export type FromWorker =
  | { readonly type: 'state'; readonly state: Exclude<StoreState, 'off'>; readonly reason: string }
  /** The file must not be used; the start fails with this error. */
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'answer'; readonly call: number; readonly answer: unknown }
  | { readonly type: 'failure'; readonly call: number; readonly failure: CallFailure };

export interface WorkerOptions {
  /** Absolute path of the database file. */
  readonly path: string;
  /** Minimum number of events to keep. */
  readonly keptEvents: number;
}
