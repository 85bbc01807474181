import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a service that is measured (`node --import`). SIGUSR2 writes the longest turn of its event loop since the
 * signal before, in milliseconds of CPU time, to the file that BENCH_TURNS names: other programs that have the processor
 * do not count. A time includes other turns within the same 2 ms.
 */

const EVERY_MS = 2;
const file = process.env.BENCH_TURNS;

if (isMainThread && file !== undefined) {
  let last = process.threadCpuUsage();
  let longestMs = 0;
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  }, EVERY_MS).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(file, `${longestMs}\n`);
    longestMs = 0;
  });
}
