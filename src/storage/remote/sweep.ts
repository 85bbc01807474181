import { randomUUID } from 'node:crypto';
import { isAway, nullIfDamaged } from '../failures/store-errors.ts';
import { createPace } from '../passes/pace.ts';
import { type RepeatedPass, repeatPass } from '../passes/repeated-pass.ts';
import type { HeldLock } from '../ports/lock.ts';
import type { Backend } from './backend.ts';
import { findCapture, listedIds } from './captures.ts';
import { partsOf } from './keys.ts';
import { keysOf } from './pack.ts';

/*
 * Deletes the files that no capture names, in one process at a time for all that share the store:
 *
 *   - files of removed captures, when their readers have had time to finish;
 *   - files of uploads that a crash or an outage cut short. All files are compared with the captures once a day, and
 *     those that no capture names are noted as if their capture had been removed: it may be one that just was.
 *
 * An upload that is still under way after that time gives up before it makes its capture appear.
 */

/** Time that open readers have after a capture was removed, in milliseconds. */
const READING_MS = 10 * 60_000;
/** Time that an upload may take, in milliseconds; covers differences between the clocks of the machines, too. */
export const UPLOAD_MS = 60 * 60_000;
const COMPARE_MS = 24 * 60 * 60_000;
const INTERVAL_MS = 60_000;
/** Notes of files that are due for deletion. */
const REMOVED = 'removed/';
/** Notes the last comparison of all files with the captures. */
const COMPARED = { prefix: 'compared/', key: 'compared/last' };

/** A pass resolves with the number of deleted files: 0 while another process runs one. It never rejects. */
export type Sweep = RepeatedPass<number>;

export interface SweepOptions {
  readonly backend: Backend;
  /** Takes the lock of the sweep; undefined when another process has it. */
  readonly lock: () => Promise<HeldLock | undefined>;
  readonly readingMs?: number;
  readonly uploadMs?: number;
  /** Time between two comparisons of all files with the captures, in milliseconds. */
  readonly compareMs?: number;
  /** Called with failures; the next pass retries. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

export function createSweep(options: SweepOptions): Sweep {
  const { backend, lock, onProblem = () => {} } = options;
  const { readingMs = READING_MS, uploadMs = UPLOAD_MS, compareMs = COMPARE_MS } = options;

  /** Yields the number of files that it has deleted, as often as it can end. */
  async function* sweepAll(): AsyncGenerator<number> {
    const [compared] = await Array.fromAsync(backend.list(COMPARED.prefix));
    if (compared === undefined || compared.ageMs >= compareMs) {
      for await (const unnamed of unnamedFiles(backend, uploadMs)) {
        await noteRemoved(backend, unnamed);
        yield 0;
      }
      await backend.put(COMPARED.key, new Uint8Array());
    }
    for await (const { key, bytes, ageMs } of backend.list(REMOVED)) {
      if (ageMs <= readingMs) continue;
      const note = await backend.get(key, { start: 0, end: bytes - 1 });
      // A capture whose removal was cut short keeps its files.
      const unnamed = await unnamedOf(backend, note?.toString().split('\n') ?? []);
      await backend.remove(unnamed);
      await backend.remove([key]);
      yield unnamed.length;
    }
  }

  async function run(signal: AbortSignal): Promise<number> {
    const held = await lock().catch(() => undefined);
    if (held === undefined) return 0;
    let deleted = 0;
    try {
      const pace = createPace(signal);
      for await (const some of sweepAll()) {
        deleted += some;
        await pace();
        if (!held.isHeld || signal.aborted) break;
      }
    } catch (error) {
      if (!isAway(error)) onProblem(error);
    } finally {
      await held.release();
    }
    return deleted;
  }

  return repeatPass({ run, intervalMs: INTERVAL_MS });
}

/** Yields, for each id in the listing, the files older than this that no capture names. */
export async function* unnamedFiles(backend: Backend, ms = UPLOAD_MS): AsyncGenerator<readonly string[]> {
  for await (const { others, isCapture } of listedIds(backend)) {
    // A single file beside a capture is its image, which the capture names.
    const doubtful = isCapture && others.length === 1 ? [] : others.filter(({ ageMs }) => ageMs > ms);
    yield await unnamedOf(
      backend,
      doubtful.map(({ key }) => key),
    );
  }
}

/** Asks for the captures themselves, because a listing may lag. */
async function unnamedOf(backend: Backend, keys: readonly string[]): Promise<readonly string[]> {
  const named = await Promise.all(keys.map((key) => isNamed(backend, key)));
  return keys.filter((_, at) => !named[at]);
}

async function isNamed(backend: Backend, key: string): Promise<boolean> {
  const parts = partsOf(key);
  if (parts === undefined) return true;
  const found = await findCapture(backend, parts.id).catch(nullIfDamaged);
  // The files of a capture that cannot be read stay; `db check` finds it.
  return found === null || (found !== undefined && (parts.part === 'marks' || keysOf(found).includes(key)));
}

/** Notes the files of captures before the captures are removed, so that a crash leaves none that cannot be found. */
export async function noteRemoved(backend: Backend, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await backend.put(`${REMOVED}${randomUUID()}`, Buffer.from(keys.join('\n')));
}
