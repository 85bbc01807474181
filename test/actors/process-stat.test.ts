import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { waitedForCore } from '../../src/actors/checks/process-stat.ts';

/** Starts a process that always wants a core. Returns its process id. */
function busy(): number {
  const child = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.pid === undefined) throw new Error('sh does not start');
  return child.pid;
}

it.runIf(process.platform === 'linux')(
  'counts the time for which a process waits for a core, and not that for which it is stopped',
  async () => {
    const stopped = busy();
    const others = Array.from({ length: availableParallelism() + 1 }, busy);
    await expect.poll(() => waitedForCore(stopped)).toBeGreaterThan(0);
    process.kill(stopped, 'SIGSTOP');
    // The signal takes effect when the process next has a core.
    await expect.poll(async () => waitedForCore(stopped) === (await later(stopped, others))).toBe(true);
    expect(waitedForCore(0)).toBe(0);
  },
);

/** Resolves with what a process has waited when each of the others has waited 20 ms longer than now. */
async function later(pid: number, others: readonly number[]): Promise<number> {
  const before = others.map(waitedForCore);
  await expect.poll(() => others.every((other, index) => waitedForCore(other) > (before[index] ?? 0) + 20)).toBe(true);
  return waitedForCore(pid);
}
