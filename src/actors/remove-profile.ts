import { execFile } from 'node:child_process';
import { lstat, rm, rmdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** What ends may write for a moment longer. */
const ATTEMPTS = 10;
const PAUSE_MS = 50;

/**
 * Removes a directory that a browser had for its own. One that belongs to another user is removed with that user's
 * rights: who broke out of a browser could put a link into it while root goes through. Rejects when it cannot.
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
      // From inside: the way there may be closed to the owner.
      await promisify(execFile)('sh', ['-c', 'rm -rf -- * .[!.]* ..?*'], { uid, gid, cwd: path });
      return await rmdir(path);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}
