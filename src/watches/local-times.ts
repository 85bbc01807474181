import { Cron } from 'croner';

/*
 * Schedules across the hours that daylight saving skips or doubles. A schedule is first read as if its time zone had no
 * such hours: "naive" times are local times, as milliseconds of UTC. They are then placed on the time line.
 */

const DAY_MS = 24 * 3_600_000;

/** Returns the first time of a schedule after `now`, in milliseconds since 1970; null when there is none. */
export function nextOfSchedule(schedule: string, timeZone: string, now: number): number | null {
  const pattern = new Cron(schedule, { mode: '5-part', timezone: 'UTC' });
  const after = (naive: number): number | null => pattern.nextRun(new Date(naive))?.getTime() ?? null;
  const offsetAt = offsetsOf(timeZone);
  return isEveryHour(schedule) ? nextByClock(after, offsetAt, now) : nextOnce(after, offsetAt, now);
}

type NextNaive = (naive: number) => number | null;
type OffsetAt = (time: number) => number;

/** Returns the next time at which a clock of the time zone shows one of the pattern. In a doubled hour both count. */
function nextByClock(after: NextNaive, offsetAt: OffsetAt, now: number): number | null {
  for (let from = now; ; ) {
    const offset = offsetAt(from);
    const naive = after(from + offset);
    if (naive === null) return null;
    if (offsetAt(naive - offset) === offset) return naive - offset;
    // The clock changes before that: goes on with the change itself, which may be the next time.
    from = changeAfter(from, naive - offset, offsetAt) - 1;
    const changed = from + 1 + offsetAt(from + 1);
    if (after(changed - 1) === changed) return from + 1;
    from += 1;
  }
}

/** Returns the next time of a pattern that names hours: each local time once, in a doubled hour the first of both. */
function nextOnce(after: NextNaive, offsetAt: OffsetAt, now: number): number | null {
  for (let naive = after(now + offsetAt(now)); naive !== null; naive = after(naive)) {
    const time = placeOf(naive, offsetAt);
    if (time > now) return time;
  }
  return null;
}

/** Returns the first time at which the clock shows a local time; the end of the gap when it never does. */
function placeOf(naive: number, offsetAt: OffsetAt): number {
  const [before, later] = [offsetAt(naive - DAY_MS), offsetAt(naive + DAY_MS)];
  for (const offset of [before, later]) if (offsetAt(naive - offset) === offset) return naive - offset;
  return changeAfter(naive - DAY_MS, naive + DAY_MS, offsetAt);
}

/** Returns when the offset changes between two times that differ in it. */
function changeAfter(from: number, to: number, offsetAt: OffsetAt): number {
  const offset = offsetAt(from);
  let [before, changed] = [from, to];
  while (changed - before > 1) {
    const middle = Math.floor((before + changed) / 2);
    if (offsetAt(middle) === offset) before = middle;
    else changed = middle;
  }
  return changed;
}

/** Whether the pattern runs in each of the 24 hours. Of the nicknames only `@hourly` does; the others mean midnight. */
function isEveryHour(schedule: string): boolean {
  const [first = '', hours = /^@hourly$/i.test(first) ? '*' : '0'] = schedule.trim().split(/\s+/);
  const ofDay = new Cron(`0 ${hours} * * *`, { mode: '5-part', timezone: 'UTC' });
  return ofDay.nextRuns(24, new Date(-1)).every((run, hour) => run.getUTCHours() === hour);
}

/** Returns the offset of a time zone from UTC at a time, in milliseconds. */
function offsetsOf(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(name) ?? [];
    const size = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
    return sign === '-' ? -size : size;
  };
}
