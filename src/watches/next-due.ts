import { createHash } from 'node:crypto';
import type { WatchRules } from '../capture/work/watch.ts';
import { nextOfSchedule } from './local-times.ts';

const DEFAULT_JITTER_MS = 30_000;
/** Maximum additional time between the runs of a watch whose page cannot be captured. */
const MAX_BACK_OFF_MS = 24 * 3_600_000;

const TIMINGS = ['every', 'schedule', 'timeZone', 'jitter'] as const;
export type Timing = Pick<WatchRules, (typeof TIMINGS)[number]>;

/**
 * Returns when a watch is due after `now`; null when its schedule has no further time. Times are milliseconds since
 * 1970.
 *
 * With `every`, runs are at least half an interval apart and then regular; each watch has its own position in the
 * interval, which its id decides. With `schedule`, local times that a time zone skips are due right after the gap, and
 * local times that it has twice are due once, unless the schedule has every hour: then it follows the clock. From the
 * second failure in a row on, each doubles the time that is waited, by at most a day more than usual.
 */
export function nextDue(id: number, timing: Timing, now: number, failures = 0): number | null {
  const { every, schedule = '', timeZone = 'UTC', jitter = DEFAULT_JITTER_MS } = timing;
  if (every !== undefined) {
    const backOff = failures < 2 ? 0 : Math.min(MAX_BACK_OFF_MS, every * (2 ** Math.min(failures - 1, 30) - 1));
    const after = now + backOff;
    const untilNext = every - modulo(after - positionOf(id, every), every);
    return after + (untilNext < every / 2 ? untilNext + every : untilNext);
  }
  const delay = positionOf(id, jitter + 1);
  const after = (time: number) => nextOfSchedule(schedule, timeZone, time);
  const next = after(now - delay);
  if (next === null) return null;
  if (failures < 2) return next + delay;
  const gap = (after(next) ?? next) - next;
  const backOff = Math.min(MAX_BACK_OFF_MS, gap * (2 ** Math.min(failures - 1, 30) - 1));
  return (after(next + backOff - 1) ?? next) + delay;
}

/**
 * Returns when a watch is due after a change, before which it was due at `dueAt`. That time is kept when it has come,
 * or when the timing stays the same and the next time is not sooner: a later time, set after failures, is replaced by
 * the next regular one.
 */
export function dueAfterChange(
  id: number,
  { from, to }: { readonly from: Timing; readonly to: Timing },
  dueAt: number | null,
  now: number,
): number | null {
  const next = nextDue(id, to, now);
  if (dueAt === null) return next;
  const isSame = TIMINGS.every((name) => from[name] === to[name]);
  return dueAt <= now || (isSame && (next === null || dueAt < next)) ? dueAt : next;
}

/** Returns a position below `count`, always the same for a watch. */
function positionOf(id: number, count: number): number {
  return createHash('sha256').update(String(id)).digest().readUIntBE(0, 6) % count;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
