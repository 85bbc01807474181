import type { StoreState } from '../ports/result-store.ts';
import type { AskFor } from './calls.ts';
import type { EventCalls } from './events.ts';
import type { IdempotencyCalls } from './idempotency.ts';
import type { JobCalls } from './jobs.ts';
import type { NodeCalls } from './nodes.ts';
import type { ResultCalls, SearchCalls } from './results.ts';

/*
 * Messages between the service's thread and the worker thread that runs SQLite. Each port declares its calls in its own
 * file, with their arguments (`args`) and answers.
 */

/** Calls that are answered within one turn of the worker. */
export type TableCalls = ResultCalls & NodeCalls & EventCalls & IdempotencyCalls & JobCalls;

export type Calls = TableCalls & SearchCalls & { close: { args: null; answer: null } };
export type CallName = keyof Calls;
export type CallOf<N extends CallName = CallName> = {
  [K in N]: { readonly name: K; readonly args: Calls[K]['args'] };
}[N];
export type AnswerOf<N extends CallName = CallName> = Calls[N]['answer'];

export type Ask = AskFor<Calls>;

/** `unavailable`: the file or the disk cannot be used now. `broken`: a defect in this program. */
export interface CallFailure {
  readonly kind: 'unavailable' | 'broken';
  readonly reason: string;
}

export type ToWorker = { readonly call: number } & CallOf;

export type FromWorker =
  | { readonly type: 'state'; readonly state: Exclude<StoreState, 'off'>; readonly reason: string }
  /** The file must not be used; the start fails with this error. */
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'answer'; readonly call: number; readonly answer: AnswerOf }
  | { readonly type: 'failure'; readonly call: number; readonly failure: CallFailure };

export interface WorkerOptions {
  /** Absolute path of the database file. */
  readonly path: string;
  /** Minimum number of events to keep. */
  readonly keptEvents: number;
  /** Identifies this process in leases. */
  readonly owner: string;
}
