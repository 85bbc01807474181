import type { CaptureCommand } from '../capture/command.ts';
import { CapstanError, failure, tellsOf, toFailure } from '../capture/errors.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import { failedResult, type Timing } from '../capture/result/build-result.ts';
import type { Evidence } from '../capture/result/evidence.ts';
import type { Logger } from '../log/log.ts';
import type { CaptureStore } from '../storage/captures/capture-store.ts';

/** The caller that aborted the capture replaces this failure with its own reason. */
export const CANCELLED: CaptureOutcome = { state: 'cancelled', failure: failure('cancelled') };

export interface FailureParts {
  readonly captureStore: Pick<CaptureStore, 'keep'>;
  readonly logger: Logger;
}

/** Returns a function that returns the timing of a capture that begins now, `earlierMs` of which have passed before. */
export function timingSince(earlierMs = 0): () => Timing {
  const startedAt = Date.now() - Math.round(earlierMs);
  const began = performance.now() - earlierMs;
  return () => ({ startedAt, durationMs: performance.now() - began });
}

/**
 * Returns the outcome of a capture that failed. Stores the record of the failure, if it tells of the target.
 * `evidence`: of a failure without any.
 */
export async function failedOutcome(
  command: CaptureCommand,
  error: unknown,
  timing: Timing,
  evidence: Evidence | null,
  { captureStore, logger }: FailureParts,
): Promise<CaptureOutcome> {
  const failed = CapstanError.from(error);
  if (failed.code === 'internal')
    logger.error({ capture_id: command.id, err: error }, 'a capture failed with an internal error');
  if (failed.code === 'cancelled' || command.signal.aborted) return CANCELLED;
  const state = failed.code === 'capture_timeout' ? 'timed_out' : 'failed';
  const result = tellsOfTarget(failed)
    ? await captureStore.keep({ ...failedResult(command, failed, timing), evidence: failed.evidence ?? evidence }, null)
    : null;
  return { state, failure: toFailure(failed), result };
}

/** Whether a failure is recorded: it tells of the target, or is a redirect to a forbidden one. */
function tellsOfTarget({ code, status }: CapstanError): boolean {
  return tellsOf('target', status) || code === 'target_forbidden';
}
