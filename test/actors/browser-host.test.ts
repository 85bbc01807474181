import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startCommand } from '../../src/actors/launching/browser-priority.ts';
import { Confinement } from '../../src/actors/launching/confinement.ts';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { launchBrowser } from '../../src/actors/launching/launch-browser.ts';
import { blockFor } from '../support/block-for.ts';
import { browserStartedBy } from '../support/browser-script.ts';

it('counts a browser that answered while the service was suspended as responsive', async () => {
  const found = await executableFinder(undefined)();
  if ('missing' in found) throw new Error(found.missing);
  const confined = new Confinement('auto', () => undefined).now;
  const host = await launchBrowser({
    executable: found.path,
    env: found.env,
    confined,
    startCommand: startCommand('low', () => undefined),
    honestUserAgent: false,
  });
  onTestFinished(() => host.close());
  const answered = host.answers(200);
  // Lets the heartbeat be sent before the process is blocked.
  await immediate();
  blockFor(3000);
  expect(await answered).toBe(true);
});

it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
  'identifies a browser in a process namespace by the process id of its wrapper (needs root)',
  async () => {
    const executable = await browserStartedBy((browser) => `exec unshare --pid --fork --kill-child ${browser} "$@"`);
    const host = await launchBrowser({
      executable,
      env: {},
      confined: { sandbox: false, user: undefined },
      startCommand: startCommand('low', () => undefined),
      honestUserAgent: false,
    });
    onTestFinished(() => host.close());
    expect(host.pid).not.toBe(1);
    expect(await readFile(`/proc/${host.pid}/cmdline`, 'latin1')).toContain(executable);
    await host.kill();
    expect(existsSync(`/proc/${host.pid}`)).toBe(false);
  },
);
