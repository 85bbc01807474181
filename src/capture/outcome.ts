import type { Failure } from './errors.ts';
import type { Evidence } from './result/evidence.ts';
import type { Result } from './result/result.ts';

/** The outcome of a capture. Every capture has exactly one. */
export type CaptureOutcome =
  | {
      readonly state: 'stored';
      readonly result: Result;
      readonly evidence: Evidence | null;
      /** The words of the page, packed, when they are indexed; for filters of events. */
      readonly words?: string | undefined;
    }
  /** `result` is the record of the failure; null when it could not be stored. */
  | { readonly state: 'failed' | 'timed_out'; readonly failure: Failure; readonly result: Result | null }
  | { readonly state: 'rejected' | 'cancelled'; readonly failure: Failure };

export type StoredCapture = Extract<CaptureOutcome, { state: 'stored' }>;

/** The outcome of one element of a batch. */
export interface BatchItem {
  /** Index of the request in the batch, from 0. */
  readonly index: number;
  readonly url: string;
  readonly outcome: CaptureOutcome;
  /** Id of an earlier capture of the same scan that shows the page to which this one was redirected. */
  readonly sameAs?: number;
}
