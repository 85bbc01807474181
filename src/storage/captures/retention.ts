import { CapstanError } from '../../capture/errors.ts';
import { cutsOf } from '../../fairness/share.ts';
import { isAway } from '../failures/store-errors.ts';
import { createPace, type Pace } from '../passes/pace.ts';
import { type RepeatedPass, repeatPass } from '../passes/repeated-pass.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { HeldLock } from '../ports/lock.ts';
import { firstIdAt } from '../records/ids.ts';
import {
  type AgedCapturesOptions,
  below,
  createAgedCaptures,
  type MaxAges,
  RECORDS_TOGETHER,
} from './aged-captures.ts';
import { NOTHING, type Removed } from './remover.ts';

/*
 * Removes captures that are too old and, when the files take too much space, the oldest ones of the API key that has
 * the most bytes, in small steps with pauses so that captures are not delayed. The age of a capture is that of its id,
 * for files and records alike, so both are removed together. A clock that is set forward by mistake makes every capture
 * too old, so one pass removes only a share of them by age, and an operator has time to notice.
 */

/** Captures removed in one step: they share one write to the database and one directory sync. */
const STEP = RECORDS_TOGETHER;
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
export interface RetentionLimits extends MaxAges {
  /** Bytes of all files of all captures. */
  readonly bytes: number | null;
}

/** Totals since the start. */
interface RetentionCounts extends Removed {
  /** Captures that are too old and were left for a later pass. */
  readonly postponed: number;
  /** Bytes above the limit that are kept by holds, as the last pass found. */
  readonly held_bytes: number;
}

export interface RetentionOptions extends Pick<AgedCapturesOptions, 'results' | 'clock'> {
  readonly limits: RetentionLimits;
  readonly artifacts: Pick<ArtifactStore, 'oldest' | 'oldestAfter' | 'sizeOf' | 'bytes' | 'measure' | 'shares'>;
  readonly remove: (ids: readonly number[]) => Promise<Removed>;
  /** Takes the lock for removing from the artifact store; undefined when another process has it. Never rejects. */
  readonly lock: () => Promise<HeldLock | undefined>;
  /** Milliseconds of a clock that is never set. @default `performance.now` */
  readonly elapsed?: () => number;
  readonly intervalMs?: number;
  /** Called after a pass that has removed something. */
  readonly onRemoved?: ((removed: Removed) => void) | undefined;
  /** Called after a pass that left captures although they are too old, with their number. */
  readonly onPostponed?: ((captures: number) => void) | undefined;
  /** Called with the bytes above `limits.bytes` that are kept by holds, when they have changed; 0 when none are. */
  readonly onHeld?: ((bytes: number) => void) | undefined;
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
  /** Whether captures could not be removed. */
  hasFailed: boolean;
  readonly held: HeldLock;
  readonly pace: Pace;
  /** Aborted when the retention stops. */
  readonly signal: AbortSignal;
}

export function createRetention(options: RetentionOptions): Retention {
  const { limits, artifacts, results, lock, clock, intervalMs = INTERVAL_MS } = options;
  const { elapsed = () => performance.now(), onProblem = () => {} } = options;
  const { onRemoved = () => {}, onPostponed = () => {}, onHeld = () => {} } = options;
  const hasAges = limits.days !== null || limits.ofLabels.size > 0;
  const aged = createAgedCaptures({ limits, artifacts, results, clock, elapsed });
  let counts = NOTHING;
  let postponed = 0;
  let heldBytes = 0;
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
      pass.hasFailed = true;
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

  /** Removes at most `limit` captures. Returns what is left of the limit; undefined when ids are left. */
  async function removeOlder(limit: number, pass: Pass): Promise<number | undefined> {
    let left: number | undefined = limit;
    for (const ids of aged.ids()) {
      left = await removeEach(ids, pass, left);
      if (left === undefined) return undefined;
    }
    return left;
  }

  async function removeAged(pass: Pass): Promise<void> {
    postponed = 0;
    const finish = aged.begin();
    const left = (await removeOlder(MIN_QUOTA, pass)) ?? (await removeShare(pass));
    if (left !== undefined && !pass.hasFailed) finish();
  }

  /** Removes the share of all captures that a pass may remove; postpones the rest, and returns undefined then. */
  async function removeShare(pass: Pass): Promise<number | undefined> {
    const { all, old } = await count(pass);
    const quota = Math.max(0, Math.floor((all + MIN_QUOTA) * MAX_SHARE) - MIN_QUOTA);
    const left = await removeOlder(quota, pass);
    if (left !== undefined) return left;
    postponed = old - quota;
    continuesAt = elapsed() + POSTPONED_MS;
    onPostponed(postponed);
    return undefined;
  }

  /** Counts files and records, and uses the larger number: one of them may be lost. */
  async function count(pass: Pass): Promise<{ readonly all: number; readonly old: number }> {
    const counted = async (ids: AsyncIterable<number>): Promise<number> => {
      let number = 0;
      for await (const _id of ids) {
        number += 1;
        if (number % COUNTED_TOGETHER !== 0) continue;
        pass.signal.throwIfAborted();
        await pass.pace();
      }
      return number;
    };
    const all = Math.max(
      await counted(artifacts.oldest()),
      await counted(aged.recordIds(Number.MAX_SAFE_INTEGER, COUNTED_TOGETHER)),
    );
    const [files = 0, records = 0, ...ofLabels] = await Promise.all(
      [...(limits.days === null ? [none(), none()] : []), ...aged.ids()].map(counted),
    );
    return { all, old: Math.max(files, records) + ofLabels.reduce((sum, one) => sum + one, 0) };
  }

  /** Iterates over the oldest captures of an API key that are not held, up to this many bytes in all. */
  async function* oldestOf(key: string | null, bytes: number, missed: Missed): AsyncGenerator<number> {
    const old = below(firstIdAt(new Date(clock() - MIN_AGE_MS)), artifacts.oldest(key));
    const held: number[] = [];
    const notHeld = aged.removable(old, (id, { hold }) => {
      if (hold !== null) held.push(id);
      return hold !== null;
    });
    let left = bytes;
    for await (const id of notHeld) {
      if (left <= 0) return;
      left -= await artifacts.sizeOf(id);
      yield id;
    }
    let ofHeld = 0;
    for (const id of held) if (ofHeld < left) ofHeld += await artifacts.sizeOf(id);
    missed.bytes += Math.max(0, Math.min(left, ofHeld));
  }

  async function makeRoom(maxBytes: number, pass: Pass): Promise<void> {
    const isOld = clock() - measuredAt >= MEASURE_MS;
    // Bytes of held captures are measured again, and cut, no sooner than other captures are counted.
    if (!isOld && (artifacts.bytes ?? 0) <= maxBytes + heldBytes) return;
    await artifacts.measure(pass.signal);
    measuredAt = clock();
    const missed: Missed = { bytes: 0 };
    const cuts = cutsOf(artifacts.shares(), (artifacts.bytes ?? 0) - maxBytes);
    for (const [key, bytes] of cuts) await removeEach(oldestOf(key, bytes, missed), pass);
    if (missed.bytes !== heldBytes) onHeld(missed.bytes);
    heldBytes = missed.bytes;
  }

  async function removeAll(signal: AbortSignal): Promise<void> {
    if (kept?.isHeld === false) await release();
    const held = kept ?? (await lock());
    if (held === undefined) return;
    kept = held;
    const pass: Pass = { removed: NOTHING, hasFailed: false, held, pace: createPace(signal), signal };
    try {
      if (hasAges && elapsed() >= continuesAt) await removeAged(pass);
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
      return { ...counts, postponed, held_bytes: heldBytes };
    },
    start: () => {
      if (hasAges || limits.bytes !== null) passes.start();
    },
    pass: passes.pass,
    stop: async () => {
      await passes.stop();
      await release();
    },
  };
}

/** Bytes that could not be removed because of holds. */
interface Missed {
  bytes: number;
}

async function* none(): AsyncGenerator<number> {}

function sum(a: Removed, b: Removed): Removed {
  return {
    screenshots: a.screenshots + b.screenshots,
    records: a.records + b.records,
    bytes_freed: a.bytes_freed + b.bytes_freed,
  };
}
