import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LOW_DISK_BYTES } from '../../capture/low-disk.ts';

/** Rejects when a file of so many bytes would make its disk low. */
export async function refuseLowDisk(file: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file));
  if (bavail * bsize - bytes < LOW_DISK_BYTES) throw new Error('the disk is low: less than 1 GiB would stay free');
}
