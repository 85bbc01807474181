import type { LoggedEvent } from '../event-log.ts';
import type { HostRange } from '../hosts.ts';
import type { Claim } from '../idempotency-store.ts';
import type { Likeness } from '../result-store.ts';
import type { IdempotencyCall } from './idempotency.ts';
import type { JobCalls } from './jobs.ts';

/** A record as the worker writes it: what the indexes need, and the whole as JSON. */
export interface Row {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly probedAt: number;
  readonly host: string;
  readonly urlKey: Uint8Array;
  readonly record: string;
  /** JSON. */
  readonly evidence: string | null;
  readonly perceptionHash: string | null;
}

/** A record, and what was kept beside it; JSON. */
export interface DetailedRow {
  readonly record: string;
  readonly evidence: string | null;
}

export interface SimilarRow {
  readonly record: string;
  readonly distance: number;
}

export type RowFilter =
  | { readonly by: 'all' }
  | { readonly by: 'url'; readonly urlKey: Uint8Array }
  | { readonly by: 'host'; readonly ranges: readonly HostRange[] };

/** A place in a list: rows behind it come next. */
export interface Place {
  readonly probedAt: number;
  readonly id: number;
}

/** What the worker can be asked, with what it answers. Records are JSON. */
export interface Calls extends JobCalls {
  insert: { args: { readonly rows: readonly Row[] }; answer: null };
  get: { args: { readonly id: number }; answer: DetailedRow | null };
  page: { args: { readonly filter: RowFilter; readonly limit: number; readonly place: Place }; answer: string[] };
  similar: { args: { readonly likeness: Likeness; readonly limit: number }; answer: SimilarRow[] };
  delete: { args: { readonly ids: readonly number[] }; answer: number };
  oldest: { args: { readonly limit: number; readonly before: number; readonly after: number }; answer: number[] };
  appendEvents: { args: { readonly rows: readonly LoggedEvent[] }; answer: null };
  readEvents: { args: { readonly after: number; readonly limit: number }; answer: LoggedEvent[] };
  newestEvent: { args: null; answer: { readonly id: number; readonly type: string } | null };
  claimNode: { args: { readonly owner: string }; answer: number | null };
  idempotency: { args: IdempotencyCall; answer: Claim | null };
  close: { args: { readonly owner: string }; answer: null };
}

export type CallName = keyof Calls;
export type Call = { [N in CallName]: { readonly name: N; readonly args: Calls[N]['args'] } }[CallName];
export type Answer = Calls[CallName]['answer'];

/** `unavailable`: the file or the disk does not let us, now. `broken`: a defect of ours. */
export interface CallFailure {
  readonly kind: 'unavailable' | 'broken';
  readonly reason: string;
}

export type ToWorker = { readonly call: number } & Call;

export type FromWorker =
  | { readonly type: 'state'; readonly up: boolean; readonly reason: string }
  | { readonly type: 'answer'; readonly call: number; readonly answer: Answer }
  | { readonly type: 'failure'; readonly call: number; readonly failure: CallFailure };

export interface WorkerOptions {
  /** Absolute path of the database file. */
  readonly path: string;
  /** Events that are kept at least. */
  readonly keptEvents: number;
}
