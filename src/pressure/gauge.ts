import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Memory, readMemory } from './memory.ts';

/** How the process and its machine are doing. */
export interface Reading {
  /** Milliseconds that the event loop kept what was due waiting: the 99th percentile since the last reading. */
  readonly eventLoopDelayMs: number;
  /** Resident memory of this process. */
  readonly rssBytes: number;
  readonly memory: Memory | null;
  /** 0 to 1, over all processors of the machine, since the last reading. */
  readonly cpu: number;
}

export interface Gauge {
  /** To be called every so many milliseconds as it was opened for. Takes less than a millisecond. */
  read(): Reading;
  close(): void;
}

/** How often the loop is looked at: fine enough for delays that anybody feels, and 50 wake-ups a second cost nothing. */
const RESOLUTION_MS = 20;

/** `intervalMs`: between two readings. */
export function openGauge(intervalMs: number): Gauge {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lastAt = performance.now();
  let lastTimes = processorTimes();

  return {
    read() {
      const now = performance.now();
      // What it holds are the times between two looks, not how late they were.
      const watched = delays.percentile(99) / 1e6 - RESOLUTION_MS;
      // A block that begins right after a reset is not in the histogram: the reading itself comes late then.
      const late = now - lastAt - intervalMs;
      delays.reset();
      lastAt = now;

      const times = processorTimes();
      const passed = times.all - lastTimes.all;
      const cpu = passed > 0 ? 1 - (times.idle - lastTimes.idle) / passed : 0;
      lastTimes = times;
      return {
        eventLoopDelayMs: Math.max(0, watched, late),
        rssBytes: process.memoryUsage.rss(),
        memory: readMemory(),
        cpu,
      };
    },
    close: () => delays.disable(),
  };
}

/** Milliseconds since the machine was started, of all processors together. */
function processorTimes(): { readonly all: number; readonly idle: number } {
  return cpus().reduce(
    ({ all, idle }, { times }) => ({
      all: all + times.user + times.nice + times.sys + times.idle + times.irq,
      idle: idle + times.idle,
    }),
    { all: 0, idle: 0 },
  );
}
