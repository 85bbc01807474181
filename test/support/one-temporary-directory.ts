import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Twice the room that a run takes at most, in bytes. */
const ROOM = 4 * 1024 ** 3;
const PREFIX = 'capstan-run-';
const NAME = /^capstan-run-(\d+)-/;

/** Gives this process and its descendants one directory for temporary files. Returns what removes it. */
export function setup(): () => void {
  const parent = place();
  endKilledRuns(parent);
  const directory = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  // Browsers may run as another user.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  // Processes of the tests take from it what an earlier one has compiled: a start of the service costs 0.7 s of CPU
  // instead of 0.8. Demonstrations that a test runs take it too.
  process.env.NODE_COMPILE_CACHE ??= join(directory, 'compiled');
  // Processes that are ending may still write what they have compiled.
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
}

/** Ends the processes of runs that were killed, and removes their directories, but for those of other users. */
function endKilledRuns(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const directory = join(parent, name);
    try {
      for (const left of processesThatName(directory)) process.kill(left, 'SIGKILL');
      rmSync(directory, { recursive: true, maxRetries: 10 });
    } catch (error) {
      process.stderr.write(`${directory} stays: ${error}\n`);
    }
  }
}

/** Returns the ids of the processes whose command line contains a path. Each server of a test has one of its files there. */
function processesThatName(path: string): readonly number[] {
  const names = existsSync('/proc') ? readdirSync('/proc') : [];
  return names.map(Number).filter((pid) => pid > 0 && commandOf(pid).includes(path));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
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
