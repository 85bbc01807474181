import pLimit from 'p-limit';
import type { LookupQueue } from './resolver.ts';

export interface LookupQueueOptions {
  /** Called before each lookup. Throws when the capture may not look up any more names. */
  readonly admit: () => void;
  /** Aborted when the capture has ended. */
  readonly signal: AbortSignal;
}

/** Lookups that one capture may have under way at once, so that names without an answer cost it alone. */
export const MAX_LOOKUPS_AT_ONCE = 16;

/** The queue of one capture's lookups, in the order in which the page asks. Dropped when the capture ends. */
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
