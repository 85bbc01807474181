import { type Failure, failure } from '../capture/errors.ts';
import type { BatchItem, CaptureOutcome } from '../capture/outcome.ts';
import { outcomeOf } from '../capture/result/recorded-outcome.ts';
import type { Result } from '../capture/result/result.ts';
import type { JobItem } from '../storage/ports/job-store.ts';

/** The outcome of a target as its job keeps it: the capture itself is in the store of results. */
interface StoredOutcome {
  readonly url: string;
  readonly capture: number | null;
  readonly sameAs?: number | undefined;
  readonly state: CaptureOutcome['state'];
  readonly failure?: Failure | undefined;
}

export function packOutcome({ index, url, outcome, sameAs }: BatchItem): JobItem {
  const capture = ('result' in outcome && outcome.result?.id) || null;
  const reason = 'failure' in outcome ? outcome.failure : undefined;
  const stored: StoredOutcome = { url, capture, sameAs, state: outcome.state, failure: reason };
  return { index, failed: outcome.state !== 'stored', code: reason?.code, body: JSON.stringify(stored) };
}

/** Returns the outcome that a record tells. */
export function recordedOutcome(result: Result): CaptureOutcome {
  const state = outcomeOf(result);
  if (state === 'stored') return { state, result, evidence: null };
  const code = result.failed_code === '' ? 'internal' : result.failed_code;
  return { state, failure: failure(code, result.failed_reason), result };
}

/** Returns the id of the capture that an outcome names; null when it names none. */
export function captureOf({ body }: JobItem): number | null {
  const { capture }: StoredOutcome = JSON.parse(body);
  return capture;
}

/** Reads an outcome. `result`: its capture; without it, a stored outcome is `not_found`. */
export function unpackOutcome({ index, body }: JobItem, result: Result | undefined): BatchItem {
  const { url, capture: _capture, sameAs, ...stored }: StoredOutcome = JSON.parse(body);
  return {
    index,
    url,
    outcome: result === undefined ? outcomeWithout(stored) : recordedOutcome(result),
    ...(sameAs !== undefined && { sameAs }),
  };
}

function outcomeWithout({ state, failure: known }: Pick<StoredOutcome, 'state' | 'failure'>): CaptureOutcome {
  const reason = known ?? failure('not_found', 'The capture was removed.');
  if (state === 'rejected' || state === 'cancelled') return { state, failure: reason };
  return { state: state === 'timed_out' ? state : 'failed', failure: reason, result: null };
}
