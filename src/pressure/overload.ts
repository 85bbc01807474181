import type { Overload } from '../capture/pressure.ts';
import type { Reading } from './gauge.ts';
import type { Mark } from './marks.ts';

/** A reading and when it was taken, in milliseconds; `inside`: the captures that are waiting or running. */
export interface Observation {
  readonly reading: Reading;
  readonly inside: number;
  readonly at: number;
}

/** To be asked about every reading, in their order. */
export type Judge = (observation: Observation) => Overload | null;

/** One reading above a mark may be a collection of garbage, or a laptop that slept; the next one is not. */
const READINGS_IN_A_ROW = 2;
/** Long enough for a refusal to show, so that the reading after it is not of what was refused. */
const MIN_MS = 5_000;
/** As long as most captures may take; what is not better by then is not going to be. */
const IDLE_MS = 30_000;

/**
 * Overload with hysteresis: it begins when a mark's high was passed twice in a row, and ends after its least time when
 * every mark is at its low again.
 *
 * A mark that nothing inside can be the cause of (memory that the system does not take back, a neighbour on the
 * machine) must not close the service for good: when nothing has been inside for `IDLE_MS`, one capture at a time is
 * let in until it is over.
 */
export function createJudge(marks: readonly Mark[]): Judge {
  const above = new Map<Mark, number>();
  let overload: { readonly since: number; reason: string; idleSince: number | undefined; trickle: boolean } | null =
    null;

  return ({ reading, inside, at }) => {
    for (const mark of marks) {
      above.set(mark, isPast(mark, mark.high, reading) ? (above.get(mark) ?? 0) + 1 : 0);
    }
    const begun = marks.find((mark) => (above.get(mark) ?? 0) >= READINGS_IN_A_ROW);
    if (overload === null && begun !== undefined) {
      overload = { since: at, reason: tell(begun, reading), idleSince: undefined, trickle: false };
    }
    if (overload === null) return null;

    const left = marks.find((mark) => isPast(mark, mark.low, reading));
    const minMs = Math.max(0, overload.since + MIN_MS - at);
    if (left === undefined && minMs === 0) {
      overload = null;
      return null;
    }
    const cause = begun ?? left;
    if (cause !== undefined) overload.reason = tell(cause, reading);
    overload.idleSince = inside > 0 ? undefined : (overload.idleSince ?? at);
    overload.trickle ||= overload.idleSince !== undefined && at - overload.idleSince >= IDLE_MS;
    return { reason: overload.reason, most: overload.trickle ? 1 : 0, minMs };
  };
}

function isPast(mark: Mark, limit: number, reading: Reading): boolean {
  const value = mark.of(reading);
  return value !== undefined && value > limit;
}

function tell(mark: Mark, reading: Reading): string {
  return `The service is overloaded: ${mark.tell(mark.of(reading) ?? 0)}.`;
}
