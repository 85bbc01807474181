import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Time that a command has to end after it was asked to, in milliseconds. */
const GRACE_MS = 2_000;
const POLL_MS = 20;

/**
 * Runs a command in a shell with `input` on its standard input, and resolves with its exit code; null after a signal.
 * When `signal` is aborted, it and everything that it started is asked to end, and killed after 2 s; then it rejects.
 */
export async function execCommand(
  command: string,
  input: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<number | null> {
  // In a group of its own, so that what the shell started can be ended with it.
  const options = { shell: true, detached: true, env: { ...process.env, ...env } } as const;
  const child = spawn(command, { ...options, stdio: ['pipe', 'inherit', 'inherit'] });
  const kill = () => void signalGroup(child, 'SIGKILL');
  process.once('exit', kill);
  try {
    // A command that does not read its input may end before the input is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const [code] = await once(child, 'close', { signal });
    return code;
  } catch (error) {
    await endGroup(child);
    throw error;
  } finally {
    process.removeListener('exit', kill);
  }
}

async function endGroup(child: ChildProcess): Promise<void> {
  const until = performance.now() + GRACE_MS;
  signalGroup(child, 'SIGTERM');
  while (signalGroup(child, 0) && performance.now() < until) await delay(POLL_MS);
  signalGroup(child, 'SIGKILL');
}

/** Returns false when no process of the group is left. */
function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}
