import { uptime } from 'node:os';
import { CapstanError } from '../../capture/errors.ts';
import type { ArtifactStore } from '../artifact-store.ts';
import { firstIdAt } from '../ids.ts';
import { isAway } from '../is-away.ts';
import type { LastUse } from '../last-use.ts';
import type { HeldLock } from '../lock.ts';
import type { ResultStore } from '../result-store.ts';
import { createClockGuard } from './clock-guard.ts';
import { createPace, type Pace } from './pace.ts';
import type { Removed } from './remover.ts';
import { type RepeatedPass, repeatPass } from './repeated-pass.ts';

/*
 * Removes captures that are too old and, when the files take too much space, the oldest ones, in small steps with
 * pauses so that captures are not delayed. The age of a capture is that of its id, for files and records alike, so both
 * are removed together.
 */

/** Captures removed in one step: they share one write to the database and one directory sync. */
const STEP = 32;
const DAY_MS = 86_400_000;
const INTERVAL_MS = 60_000;
/** Maximum time until captures stored by other processes are counted, in milliseconds. */
const MEASURE_MS = 600_000;
/** Minimum age for removal to make room, in milliseconds: a younger capture may not even be answered yet. */
const YOUNGEST_MS = 60_000;

/** Limits of what is kept; null: unlimited. */
export interface RetentionLimits {
  readonly days: number | null;
  /** Bytes of all files of all captures. */
  readonly bytes: number | null;
}

/** Totals removed by retention since the start. */
export interface RetentionCounts {
  readonly screenshots: number;
  readonly records: number;
  readonly bytes_freed: number;
}

export interface RetentionOptions {
  readonly limits: RetentionLimits;
  readonly artifacts: Pick<ArtifactStore, 'oldest' | 'sizeOf' | 'bytes' | 'measure'>;
  readonly results: Pick<ResultStore, 'kind' | 'oldest'>;
  readonly remove: (ids: readonly number[]) => Promise<Removed>;
  /** Takes the lock for removing from the artifact store; undefined when another process has it. Never rejects. */
  readonly lock: () => Promise<HeldLock | undefined>;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Milliseconds of a clock that is never set. @default the uptime on Linux, otherwise `performance.now()` */
  readonly elapsed?: () => number;
  /** When the store was last used; without it, a clock that was set while the service was stopped goes unseen. */
  readonly lastUse?: LastUse;
  /** Reads the clock of the database server, in milliseconds since the Unix epoch. */
  readonly serverClock?: () => Promise<number>;
  /** Day on which an operator found the clock right, as `2026-11-22`. */
  readonly acceptedDay?: string | null;
  readonly intervalMs?: number;
  /** Called after a pass that has removed something. */
  readonly onRemoved?: (removed: RetentionCounts) => void;
  /** Called with failures; what they prevented is retried with the next pass. */
  readonly onProblem?: (problem: unknown) => void;
}

/** Its passes never reject. `start` does nothing without a limit. */
export interface Retention extends RepeatedPass<void> {
  readonly counts: RetentionCounts;
}

/** State of one pass. */
interface Pass {
  readonly held: HeldLock;
  readonly pace: Pace;
  /** Aborted when the retention stops. */
  readonly signal: AbortSignal;
}

export function createRetention(options: RetentionOptions): Retention {
  const { limits, artifacts, results, lock, clock, elapsed = neverSet, intervalMs = INTERVAL_MS } = options;
  const { onRemoved = () => {}, onProblem = () => {} } = options;
  let counts: RetentionCounts = { screenshots: 0, records: 0, bytes_freed: 0 };
  const clockGuard = createClockGuard({
    clock,
    elapsed,
    ...(options.lastUse === undefined ? {} : { lastUse: options.lastUse }),
    ...(options.serverClock === undefined ? {} : { serverClock: options.serverClock }),
    acceptedDay: options.acceptedDay ?? null,
    // Without a limit of age, the clock decides nothing.
    onProblem: limits.days === null ? () => {} : onProblem,
  });
  let measuredAt = Number.NEGATIVE_INFINITY;

  async function remove(ids: readonly number[], { held, pace, signal }: Pass): Promise<void> {
    signal.throwIfAborted();
    if (!held.isHeld) throw new CapstanError('database_unavailable', 'The lock of the retention was lost.');
    try {
      const { screenshots, records, bytes } = await options.remove(ids);
      counts = {
        screenshots: counts.screenshots + screenshots,
        records: counts.records + records,
        bytes_freed: counts.bytes_freed + bytes,
      };
    } catch (error) {
      // Files that cannot be removed must not block the removal of newer ones.
      if (isAway(error)) throw error;
      onProblem(error);
    }
    await pace();
  }

  /** Removes the oldest captures first, while the id is below `before` and there are more bytes than `maxBytes`. */
  async function removeFiles(before: number, maxBytes: number | null, pass: Pass): Promise<void> {
    let step: number[] = [];
    let bytesOfStep = 0;
    for await (const id of artifacts.oldest()) {
      if (id >= before) break;
      if (maxBytes !== null) {
        if ((artifacts.bytes ?? 0) - bytesOfStep <= maxBytes) break;
        bytesOfStep += await artifacts.sizeOf(id);
      }
      step.push(id);
      if (step.length < STEP) continue;
      await remove(step, pass);
      step = [];
      bytesOfStep = 0;
    }
    if (step.length > 0) await remove(step, pass);
  }

  /** Removes the remaining records, which are those of failed captures: they have no files. */
  async function removeRecords(before: number, pass: Pass): Promise<void> {
    if (results.kind === 'none') return;
    for (let after = 0; ; ) {
      const ids = await results.oldest(STEP, before, after);
      const last = ids.at(-1);
      if (last === undefined) return;
      await remove(ids, pass);
      after = last;
    }
  }

  async function makeRoom(maxBytes: number, pass: Pass): Promise<void> {
    const isOld = clock() - measuredAt >= MEASURE_MS;
    if (!isOld && (artifacts.bytes ?? 0) <= maxBytes) return;
    await artifacts.measure(pass.signal);
    measuredAt = clock();
    await removeFiles(firstIdAt(new Date(clock() - YOUNGEST_MS)), maxBytes, pass);
  }

  async function removeAll(signal: AbortSignal): Promise<void> {
    // Checked without the lock too: another process may hold it for days.
    const trustedNow = await clockGuard.trustedTime();
    const held = await lock();
    if (held === undefined) return;
    const before = counts;
    const pass = { held, pace: createPace(signal), signal };
    try {
      if (limits.days !== null && trustedNow !== undefined) {
        const tooOld = firstIdAt(new Date(trustedNow - limits.days * DAY_MS));
        await removeFiles(tooOld, null, pass);
        await removeRecords(tooOld, pass);
      }
      if (limits.bytes !== null) await makeRoom(limits.bytes, pass);
    } catch (error) {
      if (!isAway(error) && !signal.aborted) onProblem(error);
    } finally {
      await held.release();
    }
    if (counts !== before) onRemoved(difference(counts, before));
  }

  const passes = repeatPass({ run: removeAll, intervalMs });
  return {
    get counts() {
      return counts;
    },
    start: () => {
      if (limits.days !== null || limits.bytes !== null) passes.start();
    },
    pass: passes.pass,
    stop: passes.stop,
  };
}

/** Milliseconds of a clock that is never set. On Linux it includes the time for which the machine was suspended. */
function neverSet(): number {
  return process.platform === 'linux' ? uptime() * 1000 : performance.now();
}

function difference(now: RetentionCounts, before: RetentionCounts): RetentionCounts {
  return {
    screenshots: now.screenshots - before.screenshots,
    records: now.records - before.records,
    bytes_freed: now.bytes_freed - before.bytes_freed,
  };
}
