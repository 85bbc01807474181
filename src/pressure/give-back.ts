import type { Reading } from './gauge.ts';

/** Readings without captures before memory is given back: a busy service would ask for it again. */
const IDLE_READINGS = 10;
/** Less is not worth the work. Measured: 73 of 541 MiB in 0.1 s of another thread. */
const MIN_BYTES = 32 * 1024 ** 2;

/** Takes each reading. Calls `giveBack` when the service is idle and has taken memory since it was last idle. */
export function giveBackWhenIdle(giveBack: () => void): (reading: Reading, activeCaptures: number) => void {
  let idle = 0;
  let least: number | undefined;
  return ({ rssBytes }, activeCaptures) => {
    idle = activeCaptures === 0 ? idle + 1 : 0;
    least = Math.min(least ?? rssBytes, rssBytes);
    if (idle < IDLE_READINGS || rssBytes - least < MIN_BYTES) return;
    giveBack();
    // The memory that remains is in use.
    least = undefined;
    idle = 0;
  };
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
