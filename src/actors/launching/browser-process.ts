import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { NICENESS, type StartCommand } from './browser-priority.ts';
import type { SystemUser } from './confinement.ts';

interface ProcessOptions {
  readonly executable: string;
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Home directory of the browser; its ownership is given to the browser's user. */
  readonly profileDir: string;
  /** User to run the browser as; undefined runs it as the service's own. */
  readonly user: SystemUser | undefined;
  readonly startCommand: StartCommand;
}

/**
 * Starts a browser with a lower priority than the service, as the leader of a process group: Ctrl-C at the terminal
 * reaches only the service, and `endFamily` reaches the whole group. Rejects when the browser does not start, the user
 * cannot be changed, or the process could not be killed later.
 */
export async function startProcess(options: ProcessOptions): Promise<ChildProcess> {
  const { executable, flags, env, profileDir, user, startCommand } = options;
  if (user !== undefined) await chown(profileDir, user.uid, user.gid);
  const front = await startCommand();
  const [command = executable, ...rest] = [...front, executable];
  const child = spawn(command, [...rest, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: user === undefined ? env : { ...env, HOME: profileDir },
    detached: front.length === 0,
    ...user,
  });
  if (child.pid === undefined) {
    // The child did not start, and without free file descriptors it has no pipes. It emits the cause a moment later.
    const [error] = await once(child, 'error');
    throw error;
  }
  if (front.length === 0) giveWay(child.pid);
  if (user !== undefined) mustEnd(child, child.pid);
  return child;
}

/** Throws when a process of another user cannot be killed, and closes its pipes so that it ends by itself. */
function mustEnd(child: ChildProcess, pid: number): void {
  try {
    process.kill(pid, 0);
  } catch (error) {
    for (const pipe of child.stdio) pipe?.destroy();
    throw error;
  }
}

/** Kills a process and everything that it started. */
export function endFamily(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has ended, or does not exist yet.
  }
  child.kill('SIGKILL');
}

function giveWay(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW));
  } catch {
    // The process has already ended, which its owner notices.
  }
}
