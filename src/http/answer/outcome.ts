import { sentResult } from '../../capture/artifacts/artifact-paths.ts';
import { CapstanError, type Failure } from '../../capture/errors.ts';
import type { BatchItem, CaptureOutcome } from '../../capture/outcome.ts';
import type { Result } from '../../capture/result/result.ts';
import type { HttpContext } from '../state.ts';
import type { BatchLine, BatchResult } from './schemas.ts';

/** The answer's view of a capture that was not stored. */
interface FailedOutcome {
  readonly failure: Failure;
  readonly result: Result | null;
}

/** Returns the failure of an outcome; null when the capture was stored. */
export function failureOf(outcome: CaptureOutcome): FailedOutcome | null {
  switch (outcome.state) {
    case 'stored':
      return null;
    case 'failed':
    case 'timed_out':
      return outcome;
    case 'rejected':
      return { failure: outcome.failure, result: null };
    case 'cancelled':
      // The client is still connected, so the service cancelled it in order to stop.
      return {
        failure: { code: 'shutting_down', reason: 'The service shut down before the capture was done.' },
        result: null,
      };
  }
}

/** Notes an outcome that tells nothing of the target: the answer is not kept for an `Idempotency-Key`. */
export function noteCutShort(ctx: HttpContext, outcome: CaptureOutcome): void {
  // A deadline that the target has missed is recorded. Without a record, the capture was not begun, or given up.
  const isUntold = outcome.state === 'timed_out' && outcome.result === null;
  if (isUntold || failureOf(outcome)?.failure.code === 'shutting_down') ctx.state.isCutShort = true;
}

export function failureError({ code, reason }: Failure): CapstanError {
  return new CapstanError(code, reason);
}

export function toBatchResult({ url, outcome }: BatchItem): BatchResult {
  if (outcome.state === 'stored') return { url, result: sentResult(outcome.result), error: null, code: null };
  const failed = failureOf(outcome);
  return {
    url,
    result: failed?.result == null ? null : sentResult(failed.result),
    error: failed?.failure.reason ?? null,
    code: failed?.failure.code ?? null,
  };
}

export function toBatchLine(item: BatchItem): BatchLine {
  const { index, sameAs } = item;
  return { index, ...toBatchResult(item), ...(sameAs !== undefined && { same_as: sameAs }) };
}
