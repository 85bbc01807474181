import type { CaptureOutcome } from '../capture/domain.ts';
import { CapstanError, type FailureCode, toFailure } from '../capture/errors.ts';

/** Failures after which it is the request, not the capture, that was wrong or unwelcome. */
const REJECTIONS: ReadonlySet<FailureCode> = new Set([
  'invalid_request',
  'target_forbidden',
  'queue_full',
  'shutting_down',
]);

/** How a capture ended that threw. */
export function outcomeOfError(thrown: unknown): CaptureOutcome {
  const failure = toFailure(thrown);
  if (failure.code === 'capture_timeout') {
    return { state: 'timed_out', failure, result: null };
  }
  if (failure.code === 'cancelled') {
    return { state: 'cancelled', failure };
  }
  return REJECTIONS.has(failure.code) ? { state: 'rejected', failure } : { state: 'failed', failure, result: null };
}

/**
 * How a capture ended whose signal was aborted: `timed_out` by the backstop deadline, else `cancelled`, whose failure
 * says whether the client went (`cancelled`) or the service (`shutting_down`).
 */
export function outcomeOfAbort(signal: AbortSignal): CaptureOutcome {
  const failure = toFailure(signal.reason instanceof CapstanError ? signal.reason : new CapstanError('cancelled'));
  return failure.code === 'capture_timeout'
    ? { state: 'timed_out', failure, result: null }
    : { state: 'cancelled', failure };
}
