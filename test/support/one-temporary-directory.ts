import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { codeOf } from '../../src/capture/basics/error-code.ts';

const MEMORY = '/dev/shm';
/** Twice the room that a run takes at most, in bytes. */
const ROOM = 4 * 1024 ** 3;
const PREFIX = 'capstan-run-';
/** Name of the socket on which a run listens in its directory while it lives. */
const ALIVE = 'alive.socket';

/** Gives this process and its descendants one directory for temporary files. Resolves with what removes it. */
export async function setup(): Promise<() => void> {
  const parent = place();
  await endKilledRuns(parent);
  const directory = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  // Browsers may run as another user.
  chmodSync(directory, 0o755);
  await listenIn(directory);
  process.env.TMPDIR = directory;
  // Processes of the tests take from it what an earlier one has compiled: a start of the service costs 0.7 s of CPU
  // instead of 0.8. Demonstrations that a test runs take it too.
  process.env.NODE_COMPILE_CACHE ??= join(directory, 'compiled');
  // Processes that are ending may still write what they have compiled.
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
}

/** Ends the processes of runs that were killed, and removes their directories. */
async function endKilledRuns(parent: string): Promise<void> {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    const directory = join(parent, name);
    if (!(await wasKilled(directory))) continue;
    try {
      for (const pid of processesOf(directory)) kill(pid);
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    } catch (error) {
      process.stderr.write(`${directory} stays: ${error}\n`);
    }
  }
}

/**
 * Shows other runs that this one lives, in containers that share the directory too, where its process id says nothing.
 * Without a socket, other runs leave the directory alone.
 */
async function listenIn(directory: string): Promise<void> {
  const starting = join(directory, 'starting.socket');
  const server = createServer((run) => run.destroy());
  server.listen(starting).unref();
  try {
    await once(server, 'listening');
    // Only now, because connections are refused between binding and listening.
    renameSync(starting, join(directory, ALIVE));
  } catch (error) {
    process.stderr.write(`${directory} stays if this run is killed: ${error}\n`);
  }
}

/** Whether a run has stopped listening without removing its directory. False for runs of other users. */
async function wasKilled(directory: string): Promise<boolean> {
  const socket = connect(join(directory, ALIVE));
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return codeOf(error) === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}

/** Returns the ids of this user's processes that were started with a temporary directory at or below the given one. */
function processesOf(directory: string): readonly number[] {
  const names = existsSync('/proc') ? readdirSync('/proc') : [];
  const own = ancestry();
  const isBelow = (variable: string) => `${variable}${sep}`.startsWith(`TMPDIR=${directory}${sep}`);
  return names
    .map(Number)
    .filter((pid) => pid > 0 && !own.has(pid) && environmentOf(pid).some((variable) => isBelow(variable)));
}

/** Returns the ids of this process and its ancestors. */
function ancestry(): ReadonlySet<number> {
  const pids = new Set<number>();
  for (let pid = process.pid; pid > 0; ) {
    pids.add(pid);
    pid = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 0);
  }
  return pids;
}

/** Returns the variables with which a process of this user was started; none of a process that has ended. */
function environmentOf(pid: number): readonly string[] {
  try {
    if (statSync(`/proc/${pid}`).uid !== process.geteuid?.()) return [];
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended meanwhile.
    if (codeOf(error) !== 'ESRCH') throw error;
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
