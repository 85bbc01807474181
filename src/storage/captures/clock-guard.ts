import { isAway } from '../is-away.ts';
import type { LastUse } from '../last-use.ts';

/*
 * A clock that is set forward by mistake would make every capture too old. The guard compares it with a clock that is
 * never set, and, because that one starts with the process, with the time at which the store was last used. With
 * MongoDB, it also compares it with the clock of the database server.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Maximum by which the clock may be set forward, beyond the time that has passed. */
const MAX_JUMP_MS = DAY_MS;
/** The limit after a stop, which is higher because no clock measures how long the stop was. */
const MAX_STOPPED_MS = 7 * DAY_MS;

export interface ClockGuardOptions {
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  /** Without it, a clock that was set while the service was stopped goes unseen. */
  readonly lastUse?: LastUse;
  /** Reads the clock of the database server, in milliseconds since the Unix epoch. */
  readonly serverClock?: () => Promise<number>;
  /**
   * Day (`2026-11-22`) on which an operator accepted the clock, which is then trusted at a start on this day, the day
   * before or the day after (UTC).
   */
  readonly acceptedDay?: string | null;
  /** Called once when the clock is no longer trusted, and with failures to read the last use. */
  readonly onProblem: (problem: unknown) => void;
}

export interface ClockGuard {
  /** Notes the use of the store. Resolves with the time by which captures may be too old; undefined when it is not trusted. */
  trustedTime(): Promise<number | undefined>;
}

export function createClockGuard(options: ClockGuardOptions): ClockGuard {
  const { clock, elapsed, lastUse, serverClock, acceptedDay, onProblem } = options;
  const startedAt = clock();
  const elapsedAtStart = elapsed();
  const isAccepted = acceptedDay != null && isNear(startedAt, Date.parse(acceptedDay));
  /** Time of the last use before this process; null until it is read. */
  let before: number | undefined | null = isAccepted ? startedAt : null;
  let isDoubted = false;

  function judge(now: number, usedBefore: number | undefined): Judgement {
    const ran = elapsed() - elapsedAtStart;
    const jump = now - startedAt - ran;
    const ahead = now - ran - (usedBefore ?? startedAt);
    if (jump > MAX_JUMP_MS) {
      // A clock that was behind at the start, and was set to the time of the last use, is correct from then on.
      if (ahead > MAX_JUMP_MS) return doubted(`was set forward by ${days(jump)}`, now, ahead);
    } else if (ahead > MAX_STOPPED_MS) {
      return doubted(`is ahead of the last use of the store by ${days(ahead)}`, now, ahead);
    }
    // A machine without a clock of its own starts in the past. A use noted then would make the right clock look far
    // ahead.
    const mayBeBehind = ran < HOUR_MS && usedBefore !== undefined && now < usedBefore - MAX_JUMP_MS;
    return mayBeBehind ? {} : { usedAt: now };
  }

  async function judgeByServer(now: number): Promise<Judgement | undefined> {
    const at = await serverClock?.();
    if (at === undefined || now - at <= MAX_JUMP_MS) return undefined;
    const doubt = `is ahead of the clock of the MongoDB server by ${days(now - at)}: --retain-days removes nothing until they agree`;
    return { doubt, usedAt: at };
  }

  /**
   * Notes the use, unless this process doubts its clock and another process trusts the same clock: an early use would
   * make the next start doubt it again.
   */
  async function noteUse(at: number, now: number): Promise<void> {
    const noted = isDoubted ? await lastUse?.read() : undefined;
    if (noted !== undefined && Math.abs(now - noted) <= MAX_JUMP_MS) return;
    await lastUse?.note(at);
  }

  async function trustedTime(): Promise<number | undefined> {
    try {
      if (before === null) before = await lastUse?.read();
      const now = clock();
      const { doubt, usedAt } = (await judgeByServer(now)) ?? judge(now, before);
      if (doubt !== undefined && !isDoubted) onProblem(new Error(`the clock ${doubt}`));
      isDoubted = doubt !== undefined;
      if (usedAt !== undefined) await noteUse(usedAt, now);
      return isDoubted ? undefined : now;
    } catch (error) {
      if (!isAway(error)) onProblem(error);
      return undefined;
    }
  }

  return { trustedTime };
}

interface Judgement {
  /** Why the clock is not trusted; missing when it is. */
  readonly doubt?: string;
  /** The last use to note; missing when none must be noted. */
  readonly usedAt?: number;
}

/** Returns a judgement that doubts the clock. Its use is early enough that the next start doubts this clock too. */
function doubted(what: string, now: number, ahead: number): Judgement {
  return {
    doubt:
      `${what}: --retain-days removes nothing until it is set back; ` +
      `if it is right, start the service with --accept-clock ${dayOf(now)}`,
    usedAt: now - Math.max(ahead, MAX_STOPPED_MS + HOUR_MS),
  };
}

/**
 * Whether the service was started on the accepted day, or on the day before or after it in UTC: the operator's time
 * zone may differ, and the restart may follow after midnight.
 */
function isNear(startedAt: number, acceptedDay: number): boolean {
  return startedAt >= acceptedDay - DAY_MS && startedAt < acceptedDay + 2 * DAY_MS;
}

function days(ms: number): string {
  return `${Math.round(ms / DAY_MS)} days`;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
