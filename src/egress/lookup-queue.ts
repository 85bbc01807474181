import pLimit from 'p-limit';
import type { LookupQueue } from './resolver.ts';

interface LookupQueueOptions {
  /** Called before each lookup. Throws when the capture has used up its lookups. */
  readonly admit: () => void;
  /** Aborted when the capture has ended. */
  readonly signal: AbortSignal;
}

/** Maximum number of simultaneous lookups of one capture, so that slow lookups delay only that capture. */
export const MAX_LOOKUPS_AT_ONCE = 16;

/** Creates the queue of one capture's lookups, first in, first out. It is dropped when the capture ends. */
export function createLookupQueue({ admit, signal }: LookupQueueOptions): LookupQueue {
  const limit = pLimit({ concurrency: MAX_LOOKUPS_AT_ONCE, rejectOnClear: true });
  signal.addEventListener('abort', () => limit.clearQueue(), { once: true });
  return async (lookUp) => {
    try {
      admit();
      return await limit(lookUp);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };
}
