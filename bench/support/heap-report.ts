import { setImmediate as nextTurn } from 'node:timers/promises';

/* Preloaded into the service that is measured: answers its parent with the bytes in use after a full collection. */

process.on('message', async () => {
  // Buffers outside of the heap go after the objects that held them.
  globalThis.gc?.();
  await nextTurn();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
// Listening must not keep the service from ending.
process.channel?.unref();
