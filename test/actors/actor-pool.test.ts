import { beforeEach, describe, expect, it } from 'vitest';
import { patience, type RunningActor } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';

describe('the actor pool', () => {
  const site = siteForSuite();
  const start = actorPerTest();
  let running: RunningActor;
  let leaving: AbortController;
  let earlier: number;
  beforeEach(async () => {
    running = await start({ maxConcurrent: 1 });
    leaving = new AbortController();
    earlier = site.hits('/hang');
  });

  /** Starts a capture that runs until it is cancelled. Resolves with its error code. */
  const hang = (): Promise<unknown> =>
    running.actor
      .capture(captureRequest(site.url('/hang'), { timeoutMs: 120_000 }), leaving.signal)
      .catch((error) => error.code);
  const hanging = () => site.hits('/hang') - earlier;
  const browsers = () => running.actor.stats().browsers.length;

  it('names the timeout of the request when a part of it has passed before', async () => {
    const request = captureRequest(site.url('/hang'), { timeoutMs: 120_000 });
    const capture = running.actor.capture(request, patience, { earlierMs: 119_500 });
    await expect(capture).rejects.toThrow('nothing could be captured within 120000 ms (');
  }, 60_000);

  it('adds actors and browsers during captures', async () => {
    const { actor } = running;
    const captures = [hang()];
    await expect.poll(hanging).toBe(1);
    actor.setSlots(16);
    captures.push(hang(), hang());
    await expect.poll(() => [hanging(), browsers()]).toEqual([3, 2]);
    expect(actor.stats().busy).toBe(3);
    captures.push(hang());
    await expect.poll(hanging).toBe(4);
    leaving.abort();
    expect(await Promise.all(captures)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
  });

  it('removes actors and browsers during captures, which continue', async () => {
    const { actor, events } = running;
    actor.setSlots(16);
    const captures = [hang(), hang(), hang()];
    await expect.poll(() => [hanging(), browsers()]).toEqual([3, 2]);
    captures.push(hang());
    await expect.poll(hanging).toBe(4);

    actor.setSlots(1);
    expect(actor.stats()).toMatchObject({ busy: 4 });
    expect(events.filter(({ type }) => type === 'browser.crashed')).toEqual([]);
    leaving.abort();
    expect(await Promise.all(captures)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    await expect.poll(() => [actor.stats(), browsers()]).toMatchObject([{ busy: 0, idle: 1 }, 1]);
    expect(events.at(-1)).toMatchObject({ type: 'browser.retired', reason: 'fewer browsers are needed' });
  });

  it('ends a surplus browser at once when no capture runs', async () => {
    const { actor } = running;
    actor.setSlots(16);
    const captures = [hang(), hang()];
    await expect.poll(browsers).toBe(2);
    leaving.abort();
    await Promise.all(captures);
    await expect.poll(() => actor.stats().busy).toBe(0);
    actor.setSlots(1);
    expect(browsers()).toBe(1);
    expect((await actor.capture(captureRequest(site.url('/short')), patience)).responseCode).toBe(200);
  });
});
