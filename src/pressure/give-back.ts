import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Reading } from './gauge.ts';

/** Readings without captures before memory is given back: a busy service would ask for it again. */
const IDLE_READINGS = 10;
/** Times that it is given back, each after as many readings: V8 collects some time after the first or second. */
const TIMES = 4;
/** Less is not worth the work. Measured: 73 of 541 MiB in 0.1 s of another thread. */
const MIN_BYTES = 32 * 1024 ** 2;

/** Takes each reading. Calls `giveBack` several times when the service is idle and has taken memory since it last was. */
export function giveBackWhenIdle(giveBack: () => void): (reading: Reading, activeCaptures: number) => void {
  let idle = 0;
  let least: number | undefined;
  let owed = 0;
  return ({ rssBytes }, activeCaptures) => {
    idle = activeCaptures === 0 ? idle + 1 : 0;
    least = Math.min(least ?? rssBytes, rssBytes);
    if (idle < IDLE_READINGS) return;
    if (rssBytes - least >= MIN_BYTES) owed = TIMES;
    if (owed === 0) return;
    giveBack();
    owed -= 1;
    // The memory that remains is in use.
    least = undefined;
    idle = 0;
  };
}

/**
 * Has V8 collect all garbage within some 20 s, in small steps, and return the memory. It does so by itself when little
 * is allocated, which it learns only from collections, of which an idle process has none. So this runs a small one.
 * Measured: 103 MiB in place of 271, in turns of at most 20 ms of CPU time.
 */
export function collectSoon(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') gc({ type: 'minor' });
}

/**
 * Has the allocator of glibc return its free memory to the system, in another thread. By itself it keeps up to 64 MiB
 * after large requests, and free memory between what is in use. Does nothing without glibc or koffi, which is optional.
 */
export async function trimAllocator(): Promise<void> {
  try {
    const { load } = await import('koffi');
    const trim = load(null).func('int malloc_trim(size_t)');
    await new Promise((resolve) => trim.async(0, resolve));
  } catch {
    // Only more memory stays with the process.
  }
}
