import { CATALOGUE, CapstanError, tellsOf, toFailure } from '../capture/errors.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';

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
