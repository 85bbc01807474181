import { setImmediate as nextTurn } from 'node:timers/promises';

/* Preloaded into the measured service: reports the bytes in use after a full collection to its parent. */

process.on('message', async (order: unknown) => {
  if (order !== 'heap') return;
  // Buffers outside the heap are freed after the objects that held them.
  globalThis.gc?.();
  await nextTurn();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
// The listener must not keep the service alive.
process.channel?.unref();
