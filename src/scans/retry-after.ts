import type { CaptureOutcome } from '../capture/outcome.ts';
import { retryAfterMs } from '../capture/retry-after.ts';

const BUSY: ReadonlySet<number> = new Set([429, 503]);

/**
 * Returns the time after which a target wants to be asked again, in milliseconds: a `Retry-After` of seconds or a date
 * with the status 429 or 503. Undefined when it names none.
 */
export function waitAskedBy(outcome: CaptureOutcome, now: number): number | undefined {
  if (outcome.state !== 'stored' || !BUSY.has(outcome.result.response_code)) return undefined;
  const header = outcome.evidence?.headers?.items.find(({ name }) => name.toLowerCase() === 'retry-after');
  return retryAfterMs(header?.value, now) ?? undefined;
}
