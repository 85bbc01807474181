import { CapstanError } from '../../capture/errors.ts';
import { cutsOf } from '../../capture/share.ts';
import { isAway } from '../failures/is-away.ts';
import { createPace, type Pace } from '../passes/pace.ts';
import { type RepeatedPass, repeatPass } from '../passes/repeated-pass.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { HeldLock } from '../ports/lock.ts';
import type { ResultStore } from '../ports/result-store.ts';
import { firstIdAt } from '../records/ids.ts';
import { NOTHING, type Removed } from './remover.ts';

/*
 * Removes captures that are too old and, when the files take too much space, the oldest ones of the API key that has
 * the most bytes, in small steps with pauses so that captures are not delayed. The age of a capture is that of its id,
 * for files and records alike, so both are removed together. A clock that is set forward by mistake makes every capture
 * too old, so one pass removes only a share of them by age, and an operator has time to notice.
 */

/** Captures removed in one step: they share one write to the database and one directory sync. */
const STEP = 32;
const DAY_MS = 86_400_000;
const INTERVAL_MS = 60_000;
/** Maximum time until captures stored by other processes are counted, in milliseconds. */
const MEASURE_MS = 600_000;
/** Minimum age of a capture that is removed to make room, in milliseconds. A younger one may not be answered yet. */
const MIN_AGE_MS = 60_000;
/** Maximum share of all captures that one pass removes by age, or `MIN_QUOTA` captures where that is more. */
const MAX_SHARE = 0.1;
const MIN_QUOTA = 1000;
/** Time until removing by age continues after a pass that has left some, in milliseconds. */
const POSTPONED_MS = 3_600_000;
/** Number of ids that are counted between two pauses. */
const COUNTED_TOGETHER = 1000;

/** Limits of what is kept; null: unlimited. */
export interface RetentionLimits {
  readonly days: number | null;
  /** Bytes of all files of all captures. */
  readonly bytes: number | null;
}

/** Totals since the start. */
export interface RetentionCounts extends Removed {
  /** Captures that are too old and were left for a later pass. */
  readonly postponed: number;
}

export interface RetentionOptions {
  readonly limits: RetentionLimits;
  readonly artifacts: Pick<ArtifactStore, 'oldest' | 'sizeOf' | 'bytes' | 'measure' | 'shares'>;
  readonly results: Pick<ResultStore, 'kind' | 'oldest'>;
  readonly remove: (ids: readonly number[]) => Promise<Removed>;
  /** Takes the lock for removing from the artifact store; undefined when another process has it. Never rejects. */
  readonly lock: () => Promise<HeldLock | undefined>;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Milliseconds of a clock that is never set. @default `performance.now` */
  readonly elapsed?: () => number;
  readonly intervalMs?: number;
  /** Called after a pass that has removed something. */
  readonly onRemoved?: ((removed: Removed) => void) | undefined;
  /** Called after a pass that left captures although they are too old, with their number. */
  readonly onPostponed?: ((captures: number) => void) | undefined;
  /** Called with failures; what they prevented is retried with the next pass. */
  readonly onProblem?: (problem: unknown) => void;
}

/** Its passes never reject. `start` does nothing without a limit. */
export interface Retention extends RepeatedPass<void> {
  readonly counts: RetentionCounts;
}

/** State of one pass. */
interface Pass {
  /** Removed by this pass so far. */
  removed: Removed;
  readonly held: HeldLock;
  readonly pace: Pace;
  /** Aborted when the retention stops. */
  readonly signal: AbortSignal;
}

export function createRetention(options: RetentionOptions): Retention {
  const { limits, artifacts, results, lock, clock, intervalMs = INTERVAL_MS } = options;
  const { elapsed = () => performance.now(), onProblem = () => {} } = options;
  const { onRemoved = () => {}, onPostponed = () => {} } = options;
  let counts = NOTHING;
  let postponed = 0;
  /** When removing by age continues, by `elapsed`. */
  let continuesAt = Number.NEGATIVE_INFINITY;
  /** The lock, kept until removing by age continues: another process would remove a share of its own meanwhile. */
  let kept: HeldLock | undefined;
  let measuredAt = Number.NEGATIVE_INFINITY;

  async function remove(ids: readonly number[], pass: Pass): Promise<void> {
    const { held, pace, signal } = pass;
    signal.throwIfAborted();
    if (!held.isHeld) throw new CapstanError('database_unavailable', 'The lock of the retention was lost.');
    try {
      const removed = await options.remove(ids);
      pass.removed = sum(pass.removed, removed);
      counts = sum(counts, removed);
    } catch (error) {
      // Files that cannot be removed must not block the removal of newer ones.
      if (isAway(error)) throw error;
      onProblem(error);
    }
    await pace();
  }

  /** Removes captures in steps, at most `limit`. Returns what is left of the limit; undefined when ids are left. */
  async function removeEach(ids: AsyncIterable<number>, pass: Pass, limit = Infinity): Promise<number | undefined> {
    let left = limit;
    let step: number[] = [];
    for await (const id of ids) {
      if (left === 0) return undefined;
      step.push(id);
      left -= 1;
      if (step.length < STEP && left > 0) continue;
      await remove(step, pass);
      step = [];
    }
    if (step.length > 0) await remove(step, pass);
    return left;
  }

  /** Removes at most `limit` captures: those with files first, then the records of failed ones, which have none. */
  async function removeOlder(before: number, limit: number, pass: Pass): Promise<number | undefined> {
    const left = await removeEach(below(before, artifacts.oldest()), pass, limit);
    return left === undefined ? undefined : removeEach(recordIds(before, STEP), pass, left);
  }

  async function* recordIds(before: number, together: number): AsyncGenerator<number> {
    if (results.kind === 'none') return;
    for (let after = 0; ; ) {
      const ids = await results.oldest(together, before, after);
      const last = ids.at(-1);
      if (last === undefined) return;
      yield* ids;
      after = last;
    }
  }

  async function removeAged(before: number, pass: Pass): Promise<void> {
    postponed = 0;
    if ((await removeOlder(before, MIN_QUOTA, pass)) !== undefined) return;
    const { all, aged } = await count(before, pass);
    const quota = Math.max(0, Math.floor((all + MIN_QUOTA) * MAX_SHARE) - MIN_QUOTA);
    if ((await removeOlder(before, quota, pass)) !== undefined) return;
    postponed = aged - quota;
    continuesAt = elapsed() + POSTPONED_MS;
    onPostponed(postponed);
  }

  /** Counts files and records, and uses the larger number: one of them may be lost. */
  async function count(before: number, pass: Pass): Promise<{ readonly all: number; readonly aged: number }> {
    let [all, aged] = [0, 0];
    for (const ids of [artifacts.oldest(), recordIds(Number.MAX_SAFE_INTEGER, COUNTED_TOGETHER)]) {
      let [counted, countedAged] = [0, 0];
      for await (const id of ids) {
        counted += 1;
        if (id < before) countedAged += 1;
        if (counted % COUNTED_TOGETHER !== 0) continue;
        pass.signal.throwIfAborted();
        await pass.pace();
      }
      all = Math.max(all, counted);
      aged = Math.max(aged, countedAged);
    }
    return { all, aged };
  }

  /** Iterates over the oldest captures of an API key, up to this many bytes in all. */
  async function* oldestOf(key: string | null, bytes: number): AsyncGenerator<number> {
    let left = bytes;
    for await (const id of below(firstIdAt(new Date(clock() - MIN_AGE_MS)), artifacts.oldest(key))) {
      if (left <= 0) return;
      left -= await artifacts.sizeOf(id);
      yield id;
    }
  }

  async function makeRoom(maxBytes: number, pass: Pass): Promise<void> {
    const isOld = clock() - measuredAt >= MEASURE_MS;
    if (!isOld && (artifacts.bytes ?? 0) <= maxBytes) return;
    await artifacts.measure(pass.signal);
    measuredAt = clock();
    const cuts = cutsOf(artifacts.shares(), (artifacts.bytes ?? 0) - maxBytes);
    for (const [key, bytes] of cuts) await removeEach(oldestOf(key, bytes), pass);
  }

  async function removeAll(signal: AbortSignal): Promise<void> {
    if (kept?.isHeld === false) await release();
    const held = kept ?? (await lock());
    if (held === undefined) return;
    kept = held;
    const pass: Pass = { removed: NOTHING, held, pace: createPace(signal), signal };
    try {
      if (limits.days !== null && elapsed() >= continuesAt) {
        await removeAged(firstIdAt(new Date(clock() - limits.days * DAY_MS)), pass);
      }
      if (limits.bytes !== null) await makeRoom(limits.bytes, pass);
    } catch (error) {
      if (!isAway(error) && !signal.aborted) onProblem(error);
    } finally {
      if (elapsed() >= continuesAt) await release();
    }
    if (pass.removed !== NOTHING) onRemoved(pass.removed);
  }

  async function release(): Promise<void> {
    await kept?.release();
    kept = undefined;
  }

  const passes = repeatPass({ run: removeAll, intervalMs });
  return {
    get counts() {
      return { ...counts, postponed };
    },
    start: () => {
      if (limits.days !== null || limits.bytes !== null) passes.start();
    },
    pass: passes.pass,
    stop: async () => {
      await passes.stop();
      await release();
    },
  };
}

/** The ids below a bound, of ids in ascending order. */
async function* below(before: number, ids: AsyncIterable<number>): AsyncGenerator<number> {
  for await (const id of ids) {
    if (id >= before) return;
    yield id;
  }
}

function sum(a: Removed, b: Removed): Removed {
  return {
    screenshots: a.screenshots + b.screenshots,
    records: a.records + b.records,
    bytes_freed: a.bytes_freed + b.bytes_freed,
  };
}
