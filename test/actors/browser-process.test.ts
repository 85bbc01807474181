import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type BrowserPriority, startCommand } from '../../src/actors/launching/browser-priority.ts';
import { endFamily, startProcess } from '../../src/actors/launching/browser-process.ts';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { pidOf } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { scriptAsBrowser } from '../support/browser-script.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

interface Started {
  readonly script: number;
  readonly grandchild: number;
  readonly warnings: readonly string[];
}

/** Linux's number of the scheduling policy for idle work. */
const SCHED_IDLE = 5;
/** The niceness of browsers: 10 more than that of the service, and at most 19. */
const LOWER = Math.min(getPriority() + 10, 19);

describe('the process of a browser', () => {
  let folder: string;
  let child: ChildProcess;
  beforeEach(async () => {
    folder = await makeDirectory();
  });
  afterEach(async () => {
    endFamily(child);
  });

  /** Starts a script in place of the browser. Returns the process ids of the script and of its child process. */
  async function started(priority: BrowserPriority = 'low'): Promise<Started> {
    const executable = await scriptAsBrowser('sleep 1000 &\necho "$$ $!" >&2\nwait');
    const warnings: string[] = [];
    child = await startProcess({
      executable,
      flags: [],
      env: process.env,
      profileDir: folder,
      user: undefined,
      startCommand: startCommand(priority, (text) => warnings.push(text)),
    });
    const [line] = await once(child.stderr ?? child, 'data');
    const [script, grandchild] = String(line).split(' ').map(Number);
    // Process id 0 would stand for the tests' own process group.
    if (!script || !grandchild) throw new Error(`the script says ${line}`);
    return { script, grandchild, warnings };
  }

  /** Leaves only these programs on the search path during the test. */
  async function onlyPrograms(...names: string[]): Promise<void> {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    for (const name of names) await symlink(`/usr/bin/${name}`, join(bin, name));
    vi.stubEnv('PATH', bin);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
  }

  it('starts the browser with a lower priority than the service, in the same session', async () => {
    const { script } = await started();
    expect(getPriority(script)).toBe(LOWER);
    expect(statOf(script).session).toBe(statOf(process.pid).session);
  });

  it('gives the browser only idle time with the priority idle, in the same session', async () => {
    const { script, grandchild, warnings } = await started('idle');
    expect([schedulingPolicy(script), schedulingPolicy(grandchild)]).toEqual([SCHED_IDLE, SCHED_IDLE]);
    expect(statOf(script).session).toBe(statOf(process.pid).session);
    expect(statOf(script).group).not.toBe(statOf(process.pid).group);
    expect(warnings).toEqual([]);
  });

  it('gives the browser a low priority, with a warning, where the system does not allow idle', async () => {
    await onlyPrograms('sh', 'sleep', 'nice', 'timeout');
    const { script, warnings } = await started('idle');
    expect(getPriority(script)).toBe(LOWER);
    expect(warnings).toEqual([expect.stringMatching(/^browsers have a low priority, .*chrt/)]);
  });

  it('starts the browser in a process group of its own, which Ctrl-C in a terminal does not reach', async () => {
    const { script, grandchild } = await started();
    expect(statOf(script).group).not.toBe(statOf(process.pid).group);
    expect(statOf(grandchild).group).toBe(statOf(script).group);
  });

  it('ends the browser with all its descendants, even stopped ones', async () => {
    const { script, grandchild } = await started();
    process.kill(grandchild, 'SIGSTOP');
    endFamily(child);
    await expect.poll(() => isRunning(script) || isRunning(grandchild)).toBe(false);
  });

  it('does not throw when the browser has already ended', async () => {
    await started();
    endFamily(child);
    await once(child, 'exit');
    expect(() => endFamily(child)).not.toThrow();
  });

  it('gives the browser a lower priority and ends its descendants on systems without coreutils', async () => {
    await onlyPrograms('sh', 'sleep');
    const { script, grandchild } = await started();
    expect(script).toBe(child.pid);
    expect(getPriority(script)).toBe(LOWER);
    endFamily(child);
    await expect.poll(() => isRunning(script) || isRunning(grandchild)).toBe(false);
  });
});

it('rejects when no file descriptors are left for the browser, without ending the service', async () => {
  const script = `
    import { openSync } from 'node:fs';
    import { startProcess } from '${join(import.meta.dirname, '../../src/actors/launching/browser-process.ts')}';
    try {
      for (;;) openSync('/dev/null');
    } catch {}
    const startCommand = async () => [];
    const options = { executable: '/bin/true', flags: [], env: {}, profileDir: '/', user: undefined, startCommand };
    await startProcess(options).catch((error) => console.log(error.code));`;
  const command = 'ulimit -n 64; exec "$0" --input-type=module -e "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, script]);
  expect(stdout).toBe('EMFILE\n');
});

describe.runIf(process.getuid?.() === 0)('the browsers of a service that runs as root (needs root)', () => {
  const start = actorPerTest();

  it("runs browsers as the user nobody, without capabilities, and their pages in Chromium's sandbox", async () => {
    const running = await start();
    const status = statusOf(pidOf(running));
    expect(status).toMatchObject({ Uid: '65534 65534 65534 65534', Gid: '65534 65534 65534 65534' });
    expect(status).toMatchObject({ CapEff: '0000000000000000', CapPrm: '0000000000000000', Groups: '' });
    const command = readFileSync(`/proc/${pidOf(running)}/cmdline`, 'utf8').split('\0');
    expect(command).not.toContain('--no-sandbox');
    expect(running.warnings).toEqual([]);
  });

  it('runs browsers as the user nobody also without the sandbox', async () => {
    const running = await start({ sandbox: 'off' });
    expect(statusOf(pidOf(running)).Uid).toBe('65534 65534 65534 65534');
    expect(running.warnings).toEqual([]);
  });

  it('runs browsers as root, with a warning, when the user nobody cannot read the executable', async () => {
    const running = await start({ browserPath: await outOfReach() });
    expect(statusOf(pidOf(running)).Uid).toBe('0 0 0 0');
    expect(running.warnings).toEqual([
      expect.stringMatching(/^Chromium runs as root and without its sandbox, .*Permission denied/),
    ]);
  });

  it('does not start browsers as root with --sandbox on', async () => {
    const { actor } = await start({ browserPath: await outOfReach(), sandbox: 'on' });
    expect(actor.unavailable).toMatchObject({ detail: expect.stringContaining('Permission denied') });
  });

  async function outOfReach(): Promise<string> {
    const folder = await makeDirectory();
    await chmod(folder, 0o700);
    const real = await executableFinder(undefined)();
    if ('missing' in real) throw new Error(real.missing);
    const path = join(folder, 'chromium');
    await symlink(real.path, path);
    return path;
  }
});

function schedulingPolicy(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[38]);
}

function statOf(pid: number): { readonly group: string | undefined; readonly session: string | undefined } {
  const [, , group, session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return { group, session };
}

function statusOf(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(':').map((part) => part.trim().replaceAll('\t', ' '))));
}

/** Whether a process runs. A process that has ended stays in /proc until its parent has waited for it. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}`)) return false;
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
