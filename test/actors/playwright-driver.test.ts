import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience, type RunningActor } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { describeDriver } from './driver-suite.ts';

/** Makes Playwright drive the capture, without an effect on its result. */
const BY_PLAYWRIGHT = { waitForFunction: 'true' };

describeDriver('Playwright', BY_PLAYWRIGHT);

describe('the browser of captures that interact', () => {
  const site = siteForSuite();
  const start = actorPerTest();
  const request = (path: string, overrides: CaptureOptions = {}) =>
    captureRequest(site.url(path), { ...BY_PLAYWRIGHT, ...overrides });
  /** Returns the process id of the browser for interaction, which is not the first one that was launched. */
  const pidOf = ({ actor, events }: RunningActor): number => {
    const [always] = events;
    const other = actor.stats().browsers.find(({ pid }) => pid !== always?.pid);
    if (other === undefined) throw new Error('there is none');
    return other.pid;
  };

  it('launches one browser for the first captures that interact, even if they are concurrent', async () => {
    const { actor, events } = await start();
    await actor.capture(captureRequest(site.url('/short')), patience);
    expect(actor.stats().browsers).toHaveLength(1);
    await Promise.all([1, 2, 3].map(() => actor.capture(request('/short'), patience)));
    expect(actor.stats()).toMatchObject({ launches: 2, crashes: 0 });
    expect(actor.stats().browsers).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'browser.launched')).toHaveLength(2);
  });

  it('ends an idle browser, and launches another on demand', async () => {
    const { actor, next } = await start({ idleMs: 200 });
    const retired = next('browser.retired');
    await actor.capture(request('/short'), patience);
    expect(await retired).toMatchObject({ reason: 'no capture needs it', captures: 1 });
    expect(actor.stats().browsers).toHaveLength(1);
    expect((await actor.capture(request('/short'), patience)).responseCode).toBe(200);
  });

  it('retires the browser after its maximum number of captures, and replaces it', async () => {
    const { actor, next } = await start({ retireAfter: 2 });
    const retired = next('browser.retired');
    for (let captures = 0; captures < 2; captures += 1) await actor.capture(request('/short'), patience);
    expect(await retired).toMatchObject({ reason: 'after 2 captures' });
    expect(actor.stats()).toMatchObject({ launches: 2 });
  });

  it.each([
    ['is killed', 'SIGKILL'],
    ['hangs', 'SIGSTOP'],
  ] as const)('retries only the captures of a browser that %s, and each of them once', async (_what, signal) => {
    const started = await start();
    const before = site.hits('/interact/opens');
    const captures = [
      started.actor.capture(request('/interact/opens?ms=2500', { waitForFunction: 'port.open' }), patience),
      started.actor.capture(captureRequest(site.url('/slow?ms=2500')), patience),
    ];
    await expect.poll(() => site.hits('/interact/opens')).toBe(before + 1);
    process.kill(pidOf(started), signal);
    expect((await Promise.all(captures)).map(({ responseCode }) => responseCode)).toEqual([200, 200]);
    expect(site.hits('/interact/opens')).toBe(before + 2);
    expect(started.actor.stats()).toMatchObject({ crashes: 1 });
  });

  it('ends the browser with the actor, also during captures', async () => {
    const started = await start();
    const capture = started.actor
      .capture(request('/interact/opens?ms=60000', { waitForFunction: 'port.open' }), patience)
      .catch((error: unknown) => error);
    await expect.poll(() => started.actor.stats().browsers.length).toBe(2);
    const pid = pidOf(started);
    await started.stop();
    expect(await capture).toMatchObject({ code: 'cancelled' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
