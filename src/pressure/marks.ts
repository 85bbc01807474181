import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Reading } from './gauge.ts';

/** One sign of overload. It begins above `high` and is over at `low`, so that it does not begin and end by turns. */
export interface Mark {
  readonly high: number;
  readonly low: number;
  /** Undefined where it cannot be known. */
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
 * What refuses new work, the gravest first. The processors are not among them: a browser takes all of them for as long
 * as it captures, and that is what they are for.
 */
export function overloadMarks(thresholds: Thresholds): readonly Mark[] {
  const { minFreeMemory, maxLoopDelayMs } = thresholds;
  const maxRss = (thresholds.maxMemoryMb ?? usualMemoryMb()) * MIB;
  const free: Mark = {
    high: 1 - minFreeMemory / 100,
    // Half as much again must be free before more is let in.
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

/** The process takes some 200 at work; a machine that has less to spare is told by what is free. */
const MIN_DEFAULT_MEMORY_MB = 512;

/**
 * Half of the machine is the browsers'. Three quarters of what V8 allows: past the whole of it the process would be
 * ended, captures under way and all.
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
