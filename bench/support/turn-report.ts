import { isMainThread } from 'node:worker_threads';
import { watchTurns } from './watch-turns.ts';

/* Preloaded into the measured service: reports the longest turn of its event loop between two messages of its parent. */

if (isMainThread && process.channel !== undefined) {
  let stop: (() => number) | undefined;
  process.on('message', (order: unknown) => {
    if (order === 'watch turns') {
      stop = watchTurns();
      process.send?.('watching');
    } else if (order === 'watched' && stop !== undefined) process.send?.(stop());
  });
  // The listener must not keep the service alive.
  process.channel.unref();
}
