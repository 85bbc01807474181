import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { PressureConfig } from '../config/slices.ts';
import type { Reading } from './gauge.ts';

/** A measured value and its limits: overload begins above `high` and ends at `low`, so that it does not flap. */
export interface Threshold {
  readonly high: number;
  readonly low: number;
  /** Undefined where the system does not report the value. */
  readonly of: (reading: Reading) => number | undefined;
  /** Completes "the service is overloaded: ...". */
  readonly describe: (value: number) => string;
}

const MIB = 1024 * 1024;

/**
 * Returns the thresholds above which new work is refused, the most severe first. Processor load is not among them,
 * because browsers are expected to use all processors.
 */
export function overloadThresholds(config: PressureConfig): readonly Threshold[] {
  const { minFreeMemory, maxLoopDelayMs } = config;
  const maxRss = (config.maxMemoryMb ?? usualMemoryMb()) * MIB;
  const free: Threshold = {
    high: 1 - minFreeMemory / 100,
    // Captures are admitted again when 1.5 times as much is free.
    low: 1 - Math.min((minFreeMemory * 1.5) / 100, 0.95),
    of: ({ memory }) => (memory === null ? undefined : 1 - memory.availableBytes / memory.totalBytes),
    describe: (used) => `${percent(1 - used)} of the memory is free (refused below ${minFreeMemory} %)`,
  };
  const own: Threshold = {
    high: maxRss,
    low: maxRss * 0.9,
    of: ({ rssBytes }) => rssBytes,
    describe: (rss) => `its process uses ${mib(rss)} MiB of memory (refused above ${mib(maxRss)} MiB)`,
  };
  const loop: Threshold = {
    high: maxLoopDelayMs,
    low: maxLoopDelayMs / 4,
    of: ({ eventLoopDelayMs }) => eventLoopDelayMs,
    describe: (delay) => `its event loop is ${Math.round(delay)} ms late (refused above ${maxLoopDelayMs} ms)`,
  };
  const descriptors: Threshold = {
    high: 0.9,
    low: 0.8,
    of: (reading) => (reading.descriptors === null ? undefined : reading.descriptors.open / reading.descriptors.limit),
    describe: (used) => `${percent(used)} of its file descriptors are open (refused above 90 %)`,
  };
  return minFreeMemory > 0 ? [free, own, descriptors, loop] : [own, descriptors, loop];
}

/** A busy process uses about 200 MiB. On smaller machines the threshold for free memory decides. */
const MIN_DEFAULT_MEMORY_MB = 512;

/**
 * Half of the machine's memory, the other half being for browsers, but at most three quarters of V8's heap limit, at
 * which V8 ends the process.
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
