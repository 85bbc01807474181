import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LibraryHandle } from 'koffi';
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

/** The threshold with which glibc begins. It raises it, up to 32 MiB, as larger blocks are freed, unless it is set. */
const LARGE_BLOCK_BYTES = 128 * 1024;
/** In malloc.h. */
const M_MMAP_THRESHOLD = -3;

/**
 * Has the allocator of glibc return large blocks, such as rows of images, to the system whenever they are freed.
 * Measured: a check of stability adds 70 to 150 MiB less, and captures take as much CPU. Does nothing without glibc or
 * koffi, which is optional.
 */
export async function returnLargeBlocks(): Promise<void> {
  await withAllocator((allocator) => {
    allocator.func('int mallopt(int, int)')(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
  });
}

/**
 * Has the allocator of glibc return its free memory to the system, in another thread. By itself it keeps up to 64 MiB
 * after large requests, and free memory between what is in use. Does nothing without glibc or koffi, which is optional.
 */
export async function trimAllocator(): Promise<void> {
  await withAllocator((allocator) => {
    const trim = allocator.func('int malloc_trim(size_t)');
    return new Promise((resolve) => trim.async(0, resolve));
  });
}

async function withAllocator(use: (allocator: LibraryHandle) => unknown): Promise<void> {
  try {
    const { load } = await import('koffi');
    await use(load(null));
  } catch {
    // Only more memory stays with the process.
  }
}
