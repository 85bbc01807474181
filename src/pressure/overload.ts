import type { Overload } from '../capture/operation/pressure.ts';
import type { Reading } from './gauge.ts';
import type { Threshold } from './thresholds.ts';

/** A reading with its time in milliseconds and the number of captures waiting or running. */
interface Observation {
  readonly reading: Reading;
  readonly activeCaptures: number;
  readonly at: number;
}

/** Decides after every reading, in order, whether the service is overloaded. */
export type Judge = (observation: Observation) => Overload | null;

/** More than one: a garbage collection, or a machine that wakes from sleep, may cause a single reading above `high`. */
const READINGS_IN_A_ROW = 2;
/** Long enough for the refusal to have an effect on the readings. */
const MIN_MS = 5_000;
/** As long as most captures take: pressure that lasts longer is not caused by them. */
const IDLE_MS = 30_000;

/**
 * Returns a judge with hysteresis: overload begins when a value exceeds its `high` in two readings in a row, and ends,
 * after a minimum time, when all values are at or below their `low`.
 *
 * Overload that captures do not cause (memory that is not returned to the system, another process of the machine) must
 * not block the service for ever: after `IDLE_MS` with nothing running, one capture at a time is admitted.
 */
export function createJudge(thresholds: readonly Threshold[]): Judge {
  const above = new Map<Threshold, number>();
  let overload: { readonly since: number; reason: string; idleSince: number | undefined; trickle: boolean } | null =
    null;

  return ({ reading, activeCaptures, at }) => {
    for (const threshold of thresholds) {
      above.set(threshold, isPast(threshold, threshold.high, reading) ? (above.get(threshold) ?? 0) + 1 : 0);
    }
    const begun = thresholds.find((threshold) => (above.get(threshold) ?? 0) >= READINGS_IN_A_ROW);
    if (overload === null && begun !== undefined) {
      overload = { since: at, reason: reasonFor(begun, reading), idleSince: undefined, trickle: false };
    }
    if (overload === null) return null;

    const left = thresholds.find((threshold) => isPast(threshold, threshold.low, reading));
    const minMs = Math.max(0, overload.since + MIN_MS - at);
    if (left === undefined && minMs === 0) {
      overload = null;
      return null;
    }
    const cause = begun ?? left;
    if (cause !== undefined) overload.reason = reasonFor(cause, reading);
    overload.idleSince = activeCaptures > 0 ? undefined : (overload.idleSince ?? at);
    overload.trickle ||= overload.idleSince !== undefined && at - overload.idleSince >= IDLE_MS;
    return { reason: overload.reason, maxTaken: overload.trickle ? 1 : 0, minMs };
  };
}

function isPast(threshold: Threshold, limit: number, reading: Reading): boolean {
  const value = threshold.of(reading);
  return value !== undefined && value > limit;
}

function reasonFor(threshold: Threshold, reading: Reading): string {
  return `The service is overloaded: ${threshold.describe(threshold.of(reading) ?? 0)}.`;
}
