import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Descriptors, descriptorLimit, readDescriptors } from './descriptors.ts';
import { type Memory, readMemory } from './memory.ts';

/** Load of the process and its machine. */
export interface Reading {
  /** Delay of the event loop in milliseconds: the 99th percentile since the last reading. */
  readonly eventLoopDelayMs: number;
  /** Resident memory of this process, in bytes. */
  readonly rssBytes: number;
  readonly memory: Memory | null;
  readonly descriptors: Descriptors | null;
  /** Share of all processors of the machine in use since the last reading, from 0 to 1. */
  readonly cpu: number;
}

export interface Gauge {
  /** Takes a reading in less than a millisecond. Call it at the interval given to `openGauge`. Never throws. */
  read(): Reading;
  close(): void;
}

/** Sampling interval of the event loop. 50 wake-ups a second are not measurable. */
const RESOLUTION_MS = 20;

/** Opens a gauge that is read every `intervalMs` milliseconds. */
export function openGauge(intervalMs: number): Gauge {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lastAt = performance.now();
  let lastTimes = processorTimes() ?? { all: 0, idle: 0 };
  let rssBytes = ownMemory() ?? 0;
  const maxDescriptors = descriptorLimit();

  return {
    read() {
      const now = performance.now();
      // The histogram holds the time between two samples, which includes the sampling interval.
      const watched = delays.percentile(99) / 1e6 - RESOLUTION_MS;
      // A block that begins right after a reset is not in the histogram, but delays the reading.
      const late = now - lastAt - intervalMs;
      delays.reset();
      lastAt = now;

      const times = processorTimes() ?? lastTimes;
      const passed = times.all - lastTimes.all;
      const cpu = passed > 0 ? 1 - (times.idle - lastTimes.idle) / passed : 0;
      lastTimes = times;
      rssBytes = ownMemory() ?? rssBytes;
      return {
        eventLoopDelayMs: Math.max(0, watched, late),
        rssBytes,
        memory: readMemory(),
        descriptors: readDescriptors(maxDescriptors),
        cpu,
      };
    },
    close: () => delays.disable(),
  };
}

/*
 * Both values below come from files in /proc. A process without a free descriptor cannot open these files; the last
 * value is then used instead.
 */

/** Milliseconds since the machine was started, summed over all processors: in total and idle. */
function processorTimes(): { readonly all: number; readonly idle: number } | undefined {
  return ifReadable(cpus)?.reduce(
    ({ all, idle }, { times }) => ({
      all: all + times.user + times.nice + times.sys + times.idle + times.irq,
      idle: idle + times.idle,
    }),
    { all: 0, idle: 0 },
  );
}

/** Resident memory of this process, in bytes. */
function ownMemory(): number | undefined {
  return ifReadable(() => process.memoryUsage.rss());
}

function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
