import type { Failure } from './errors.ts';
import type { Evidence } from './evidence.ts';
import type { Result } from './result.ts';

/** How a capture ended: exactly one of these, for every capture that was asked for. */
export type CaptureOutcome =
  | { readonly state: 'stored'; readonly result: Result; readonly evidence: Evidence | null }
  /** `result` is the failed record; null when not even that could be kept. */
  | { readonly state: 'failed' | 'timed_out'; readonly failure: Failure; readonly result: Result | null }
  | { readonly state: 'rejected' | 'cancelled'; readonly failure: Failure };

/** One element of a batch, done. */
export interface BatchItem {
  /** Place of its request in the batch, from 0. */
  readonly index: number;
  readonly url: string;
  readonly outcome: CaptureOutcome;
}
