import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';

/* Preloaded into the measured service: profiles its main thread between two messages of its parent. */

/** Interval between samples, in microseconds. */
const INTERVAL_US = 500;

if (isMainThread && process.channel !== undefined) {
  const session = new Session();
  process.on('message', async (order: unknown) => {
    if (order === 'profile') {
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
      await session.post('Profiler.start');
      process.send?.('profiling');
    } else if (order === 'profiled') {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      process.send?.(profile);
    }
  });
  // The listener must not keep the service alive.
  process.channel.unref();
}
