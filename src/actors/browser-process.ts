import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { promisify } from 'node:util';
import type { SystemUser } from './confinement.ts';

/**
 * Behind the service: pages are drawn when nobody waits to be answered. On two cores, with ten times the load that can
 * be served, all but one in a hundred refusals took 9 to 20 ms in place of 110 to 250, and as many pages were captured.
 */
const NICENESS = 10;

export interface ProcessOptions {
  readonly executable: string;
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The browser's home, which is made its user's. */
  readonly profileDir: string;
  /** Whom it runs as; undefined: whom we run as. */
  readonly user: SystemUser | undefined;
}

/**
 * Starts a browser that gives way to the service, as the first of a process group: a Ctrl-C at the terminal is for us,
 * and `endFamily` reaches all of it. Rejects when it does not start, the user cannot be another, or the process could
 * not be ended.
 */
export async function startProcess(options: ProcessOptions): Promise<ChildProcess> {
  const { executable, flags, env, profileDir, user } = options;
  if (user !== undefined) await chown(profileDir, user.uid, user.gid);
  const front = await groupInSession();
  const [command = executable, ...rest] = [...front, executable];
  const child = spawn(command, [...rest, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: user === undefined ? env : { ...env, HOME: profileDir },
    detached: front.length === 0,
    ...user,
  });
  if (child.pid === undefined) {
    // Where we have no descriptors left it has no pipes either; why it did not start is told a moment later.
    const [error] = await once(child, 'error');
    throw error;
  }
  if (front.length === 0) giveWay(child.pid);
  if (user !== undefined) mustEnd(child, child.pid);
  return child;
}

/** Throws where a process of another user is out of our reach, and has it end by itself: its pipes close. */
function mustEnd(child: ChildProcess, pid: number): void {
  try {
    process.kill(pid, 0);
  } catch (error) {
    for (const pipe of child.stdio) pipe?.destroy();
    throw error;
  }
}

/** Ends at once what is left of a process and all that it started. */
export function endFamily(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody of it is left, or it has not got as far as to have a group.
  }
  child.kill('SIGKILL');
}

/**
 * The command that starts another one behind us and in a group of its own, but in our session: Linux divides its cores
 * between sessions first (sched(7)), and in another one a browser would wait for nobody. Node can have the group only
 * together with a session; timeout(1) of the coreutils makes one, and with 0 does nothing more. Without it: nothing.
 */
function groupInSession(): Promise<readonly string[]> {
  inFront ??= promisify(execFile)('timeout', ['--version']).then(
    ({ stdout }) => (/coreutils/.test(stdout) ? ['nice', '-n', String(NICENESS), 'timeout', '0'] : []),
    () => [],
  );
  return inFront;
}

/** Asked once. */
let inFront: Promise<readonly string[]> | undefined;

function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, which its owner finds out.
  }
}
