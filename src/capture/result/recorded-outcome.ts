import type { Result } from './result.ts';

// No schemas here: see `errors.ts`.

/** Outcomes of captures that have a record. */
export const RECORDED_OUTCOMES = ['stored', 'failed', 'timed_out'] as const;
export type RecordedOutcome = (typeof RECORDED_OUTCOMES)[number];

export function outcomeOf({ failed, failed_code }: Pick<Result, 'failed' | 'failed_code'>): RecordedOutcome {
  if (!failed) return 'stored';
  return failed_code === 'capture_timeout' ? 'timed_out' : 'failed';
}
