import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { giveWay } from '../../src/actors/give-way.ts';
import { startActor } from '../support/actor.ts';

const autogroupOf = (pid: number): string => readFileSync(`/proc/${pid}/autogroup`, 'utf8');
const weighsSessions = existsSync('/proc/self/autogroup');

describe('a process that gives way', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  /** A process in a session of its own, as browsers have. */
  async function bystander(): Promise<number> {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    await once(child, 'spawn');
    return child.pid ?? 0;
  }

  it('waits for a core rather than this one, among processes and among sessions', async () => {
    const pid = await bystander();
    await giveWay(pid);
    expect(getPriority(pid)).toBe(10);
    if (weighsSessions) expect(autogroupOf(pid)).toMatch(/nice 10$/m);
    expect(getPriority()).toBe(0);
  });

  it('may have ended already', async () => {
    const pid = await bystander();
    child?.kill('SIGKILL');
    await once(child ?? process, 'exit');
    await expect(giveWay(pid)).resolves.toBeUndefined();
  });

  it.skipIf(!weighsSessions)('is every browser (needs Linux with autogroups)', async () => {
    const running = await startActor();
    try {
      const [browser] = running.actor.stats().browsers;
      expect(autogroupOf(browser?.pid ?? 0)).toMatch(/nice 10$/m);
    } finally {
      await running.stop();
    }
  });
});
