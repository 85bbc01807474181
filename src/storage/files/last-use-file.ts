import { stat, utimes } from 'node:fs/promises';
import type { LastUse } from '../last-use.ts';
import { ifThere } from './directories.ts';
import { lastUseFile } from './layout.ts';
import { touchPrivateSync } from './private-files.ts';

/** Keeps the last use as the modification time of an empty file, so that it can be noted on a full disk. */
export function lastUseIn(dataDir: string): LastUse {
  const path = lastUseFile(dataDir);
  return {
    read: async () => (await ifThere(stat(path)))?.mtimeMs,
    note: async (ms) => {
      try {
        touchPrivateSync(path);
        await utimes(path, ms / 1000, ms / 1000);
      } catch {
        // The directory cannot be written.
      }
    },
  };
}
