import { execFile } from 'node:child_process';
import { lstat, rm, rmdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Processes that are ending may still write for a moment. */
const ATTEMPTS = 10;
const PAUSE_MS = 50;

/**
 * Removes the profile directory of a browser. A directory of another user is removed with that user's rights: code that
 * took over a browser could replace a part of it with a link while root removes it. Rejects when it cannot be removed.
 */
export async function removeProfile(path: string): Promise<void> {
  const owner = await lstat(path).catch(() => undefined);
  if (owner === undefined) return;
  if (owner.uid === process.getuid?.() || process.getuid?.() !== 0) {
    await rm(path, { recursive: true, force: true, maxRetries: ATTEMPTS, retryDelay: PAUSE_MS });
    return;
  }
  const { uid, gid } = owner;
  for (let attempt = 1; ; attempt += 1) {
    try {
      // The directory is the working directory, because the owner may have no access to its parent.
      await promisify(execFile)('sh', ['-c', 'rm -rf -- * .[!.]* ..?*'], { uid, gid, cwd: path });
      return await rmdir(path);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}
