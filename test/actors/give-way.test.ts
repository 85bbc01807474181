import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { giveWay } from '../../src/actors/give-way.ts';

describe('a process that gives way', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  /** A process in a session of its own, as browsers have. */
  async function bystander(): Promise<number> {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    await once(child, 'spawn');
    return child.pid ?? 0;
  }

  it('waits for a core rather than this one', async () => {
    const pid = await bystander();
    giveWay(pid);
    expect(getPriority(pid)).toBe(10);
    expect(getPriority()).toBeLessThan(10);
  });

  it('may have ended already', async () => {
    const pid = await bystander();
    child?.kill('SIGKILL');
    await once(child ?? process, 'exit');
    expect(() => giveWay(pid)).not.toThrow();
  });
});
