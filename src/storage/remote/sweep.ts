import { isAway } from '../failures/is-away.ts';
import { createPace } from '../passes/pace.ts';
import { type RepeatedPass, repeatPass } from '../passes/repeated-pass.ts';
import type { HeldLock } from '../ports/lock.ts';

/* Deletes the files that no capture names, in one process at a time for all that share the store. */

/** Time that open readers have after a capture was removed, in milliseconds. */
export const READING_MS = 10 * 60_000;
/** Time that an upload may take, in milliseconds; covers differences between the clocks of the machines, too. */
export const UPLOAD_MS = 60 * 60_000;
const INTERVAL_MS = 60_000;

/** A pass resolves with the number of deleted files: 0 while another process runs one. It never rejects. */
export type Sweep = RepeatedPass<number>;

interface SweepPassOptions<L extends HeldLock> {
  /** Takes the lock of the sweep; undefined when another process has it. */
  readonly lock: () => Promise<L | undefined>;
  /**
   * The steps of a pass. Each yields the number of files that it has deleted since it last did, as often as it can end:
   * when the process stops, or has lost the lock.
   */
  readonly steps: (held: L) => readonly AsyncIterable<number>[];
  /** Called with failures; the next pass retries. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

export function createSweepPass<L extends HeldLock>(options: SweepPassOptions<L>): Sweep {
  const { lock, steps, onProblem = () => {} } = options;

  async function sweepAll(held: L, signal: AbortSignal): Promise<number> {
    let deleted = 0;
    const pace = createPace(signal);
    for (const step of steps(held)) {
      for await (const some of step) {
        deleted += some;
        await pace();
        if (!held.isHeld || signal.aborted) return deleted;
      }
    }
    return deleted;
  }

  async function run(signal: AbortSignal): Promise<number> {
    const held = await lock().catch(() => undefined);
    if (held === undefined) return 0;
    try {
      return await sweepAll(held, signal);
    } catch (error) {
      if (!isAway(error)) onProblem(error);
      return 0;
    } finally {
      await held.release();
    }
  }

  return repeatPass({ run, intervalMs: INTERVAL_MS });
}
