import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Twice the room that a run takes at most, in bytes. */
const ROOM = 4 * 1024 ** 3;

/** Gives this process and its descendants one directory for temporary files. Returns what removes it. */
export function setup(): () => void {
  const directory = mkdtempSync(join(place(), 'capstan-run-'));
  // Browsers may run as another user.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  // Processes of the tests take from it what an earlier one has compiled: a start of the service costs 0.7 s of CPU
  // instead of 0.8. Demonstrations that a test runs take it too.
  process.env.NODE_COMPILE_CACHE ??= join(directory, 'compiled');
  // Processes that are ending may still write what they have compiled.
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * The directory that TMPDIR names, else one in memory, where a run takes less CPU than on a disk, else the system's.
 */
function place(): string {
  return process.env.TMPDIR === undefined && hasRoom(MEMORY) ? MEMORY : tmpdir();
}

function hasRoom(directory: string): boolean {
  if (!existsSync(directory)) return false;
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= ROOM;
}
