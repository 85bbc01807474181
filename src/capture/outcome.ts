import { CATALOGUE, CapstanError, type Failure, tellsOf, toFailure } from './errors.ts';
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
  /** `result`: the record of the failure; null when the failure does not tell of the target, or was not stored. */
  | { readonly state: 'failed' | 'timed_out'; readonly failure: Failure; readonly result: Result | null }
  | { readonly state: 'rejected' | 'cancelled'; readonly failure: Failure };

export type StoredCapture = Extract<CaptureOutcome, { state: 'stored' }>;

/** Returns the outcome of a capture that threw. */
export function outcomeOfError(thrown: unknown): CaptureOutcome {
  const failure = toFailure(thrown);
  if (failure.code === 'capture_timeout') {
    return { state: 'timed_out', failure, result: null };
  }
  if (failure.code === 'cancelled') {
    return { state: 'cancelled', failure };
  }
  const isRejected = failure.code === 'shutting_down' || tellsOf('request', CATALOGUE[failure.code].status);
  return isRejected ? { state: 'rejected', failure } : { state: 'failed', failure, result: null };
}

/**
 * Returns the outcome of a capture whose signal was aborted: `timed_out` after the backstop deadline, else `cancelled`,
 * with the code `cancelled` when the client hung up and `shutting_down` when the service stops.
 */
export function outcomeOfAbort(signal: AbortSignal): CaptureOutcome {
  const failure = toFailure(signal.reason instanceof CapstanError ? signal.reason : new CapstanError('cancelled'));
  return failure.code === 'capture_timeout'
    ? { state: 'timed_out', failure, result: null }
    : { state: 'cancelled', failure };
}

/** The outcome of one item of a batch. */
export interface BatchItem {
  /** Index of the request in the batch, from 0. */
  readonly index: number;
  readonly url: string;
  readonly outcome: CaptureOutcome;
  /** Id of an earlier capture of the same scan that shows the page to which this one was redirected. */
  readonly sameAs?: number;
}
