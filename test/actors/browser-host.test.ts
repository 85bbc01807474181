import { setImmediate as immediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../../src/actors/browser-host.ts';
import { Confinement } from '../../src/actors/confinement.ts';
import { executableFinder } from '../../src/actors/executable.ts';

it('a browser that answered while we stood still has answered', async () => {
  const found = await executableFinder(undefined)();
  if ('missing' in found) throw new Error(found.missing);
  const confined = new Confinement('auto', () => undefined).now;
  const host = await launchBrowser({ executable: found.path, env: found.env, confined });
  onTestFinished(() => host.close());
  const answered = host.answers(200);
  // The question is on its way by then.
  await immediate();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  expect(await answered).toBe(true);
});
