import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Reading } from './gauge.ts';

/** A sign of overload. It begins above `high` and ends at `low`, so that it does not flap. */
export interface Mark {
  readonly high: number;
  readonly low: number;
  /** Undefined where the system does not tell. */
  readonly of: (reading: Reading) => number | undefined;
  /** Completes "the service is overloaded: ...". */
  readonly tell: (value: number) => string;
}

/** Null: from the machine. */
export interface Thresholds {
  /** MiB of this process. */
  readonly maxMemoryMb: number | null;
  /** Per cent of the machine's memory; 0: not looked at. */
  readonly minFreeMemory: number;
  /** Milliseconds. */
  readonly maxLoopDelayMs: number;
}

const MIB = 1024 * 1024;

/**
 * Marks that refuse new work, the gravest first. Processor load is not among them: browsers are supposed to use it.
 */
export function overloadMarks(thresholds: Thresholds): readonly Mark[] {
  const { minFreeMemory, maxLoopDelayMs } = thresholds;
  const maxRss = (thresholds.maxMemoryMb ?? usualMemoryMb()) * MIB;
  const free: Mark = {
    high: 1 - minFreeMemory / 100,
    // Half as much again must be free before captures are admitted.
    low: 1 - Math.min((minFreeMemory * 1.5) / 100, 0.95),
    of: ({ memory }) => (memory === null ? undefined : 1 - memory.availableBytes / memory.totalBytes),
    tell: (used) => `${percent(1 - used)} of the memory is free (refused below ${minFreeMemory} %)`,
  };
  const own: Mark = {
    high: maxRss,
    low: maxRss * 0.9,
    of: ({ rssBytes }) => rssBytes,
    tell: (rss) => `its process takes ${mib(rss)} MiB of memory (refused above ${mib(maxRss)})`,
  };
  const loop: Mark = {
    high: maxLoopDelayMs,
    low: maxLoopDelayMs / 4,
    of: ({ eventLoopDelayMs }) => eventLoopDelayMs,
    tell: (delay) => `its event loop is ${Math.round(delay)} ms late (refused above ${maxLoopDelayMs})`,
  };
  const descriptors: Mark = {
    high: 0.9,
    low: 0.8,
    of: (reading) => (reading.descriptors === null ? undefined : reading.descriptors.open / reading.descriptors.limit),
    tell: (used) => `${percent(used)} of its file descriptors are open (refused above 90 %)`,
  };
  return minFreeMemory > 0 ? [free, own, descriptors, loop] : [own, descriptors, loop];
}

/** The process takes about 200 MiB at work. On smaller machines the mark for free memory decides. */
const MIN_DEFAULT_MEMORY_MB = 512;

/**
 * Half of the machine is left to browsers. Three quarters of V8's heap limit: beyond the limit V8 ends the process.
 */
function usualMemoryMb(): number {
  const heapLimit = getHeapStatistics().heap_size_limit;
  return Math.max(MIN_DEFAULT_MEMORY_MB, Math.min(totalmem() / 2, heapLimit * 0.75) / MIB);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB);
}
