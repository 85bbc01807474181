import { stat, utimes } from 'node:fs/promises';
import { retentionLock } from './layout.ts';
import { touchPrivateSync } from './private-files.ts';

/** The time at which a data directory was last used: that of its retention lock, a file that is never written. */
export interface LastSeen {
  /** Milliseconds since the Unix epoch; undefined before the first use. */
  read(): Promise<number | undefined>;
  /** Notes that the directory is used at this time. Never rejects. */
  note(ms: number): Promise<void>;
}

export function lastSeenIn(dataDir: string): LastSeen {
  const path = retentionLock(dataDir);
  return {
    read: async () => (await stat(path).catch(() => undefined))?.mtimeMs,
    note: async (ms) => {
      try {
        // With artifacts in GridFS, the lock itself is in MongoDB.
        touchPrivateSync(path);
        await utimes(path, ms / 1000, ms / 1000);
      } catch {
        // The directory cannot be written.
      }
    },
  };
}
