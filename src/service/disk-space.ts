import { statfs } from 'node:fs/promises';
import type { ServiceStats } from '../capture/stats.ts';

/**
 * Returns a function that reads the space of the file system of a directory. It never waits for the disk: each call
 * returns what the call before it has found.
 */
export function watchDiskSpace(directory: string): () => ServiceStats['store']['disk'] {
  let known: ServiceStats['store']['disk'] = null;
  const read = async (): Promise<void> => {
    try {
      const { bavail, blocks, bsize } = await statfs(directory);
      known = { free: bavail * bsize, size: blocks * bsize };
    } catch {
      known = null;
    }
  };
  void read();
  return () => {
    void read();
    return known;
  };
}
