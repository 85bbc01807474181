import { setTimeout as delay } from 'node:timers/promises';
import { describe, it, type TestContext } from 'vitest';
import { failureOf, patience, pidOf, type RunningActor, startActor } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';

describe.concurrent('captures of a browser that ended', () => {
  const site = siteForSuite();
  const hits = (name: string) => site.requests.filter(({ url }) => url.endsWith(`&${name}`)).length;

  /** Starts an actor for a test that runs beside others, with what the test does with it. */
  const begin = async ({ expect, onTestFinished }: TestContext) => {
    const started = await startActor();
    onTestFinished(started.stop);
    const visits = (names: readonly string[], count: number) =>
      expect.poll(() => names.map(hits)).toEqual(names.map(() => count));

    /** Starts captures of slow pages, and resolves when each has requested its page. */
    const captures = async (names: readonly string[], ms: number) => {
      const under = names.map((name) =>
        started.actor.capture(captureRequest(site.url(`/slow?ms=${ms}&${name}`)), patience),
      );
      for (const each of under) each.catch(() => undefined);
      await visits(names, 1);
      return under;
    };

    /** Starts a capture and kills its browser. Resolves with it and the browser in which it is repeated. */
    const repeatedAlone = async (name: string, ms: number) => {
      const [capture] = await captures([name], ms);
      process.kill(pidOf(started), 'SIGKILL');
      await visits([name], 2);
      const [own] = browsersOfOne(started);
      if (capture === undefined || own === undefined) throw new Error('the capture is not repeated');
      return { capture, own };
    };
    return { expect, started, visits, captures, repeatedAlone };
  };

  it('are repeated in browsers of their own, so a second end of the shared browser does not fail them', async (context) => {
    const { expect, started, visits, captures } = await begin(context);
    const names = ['one', 'two', 'three'];
    const under = await captures(names, 4000);
    process.kill(pidOf(started), 'SIGKILL');
    await visits(names, 2);
    await expect.poll(() => browsersOfMany(started).length).toBe(1);
    const [shared] = browsersOfMany(started);
    if (shared === undefined) throw new Error('there is no shared browser');
    process.kill(shared, 'SIGKILL');
    for (const capture of under) expect((await capture).title).toBe('A slow page');
    // Browsers for one capture end with it.
    await expect.poll(() => browsersOfOne(started)).toEqual([]);
    await expect.poll(() => started.actor.stats().busy).toBe(0);
    // Three browsers that captures shared, and one for each capture.
    await expect.poll(() => started.actor.stats()).toMatchObject({ crashes: 2, launches: 3 + names.length });
  });

  it('fail with page_crashed when their own browser ends, too, and leave the others alone', async (context) => {
    const { expect, started, captures } = await begin(context);
    const [guilty, innocent] = await captures(['guilty', 'innocent'], 4000);
    process.kill(pidOf(started), 'SIGKILL');
    await expect.poll(() => browsersOfOne(started).length).toBeGreaterThan(0);
    // Their browsers are launched in the order of the captures.
    const [own] = browsersOfOne(started);
    if (guilty === undefined || innocent === undefined || own === undefined) throw new Error('one is missing');
    process.kill(own, 'SIGKILL');
    const ended = await Promise.allSettled([guilty, innocent]);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(ended.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'page_crashed' } });
  });

  it('do not fail when their own browser is silent for 12 s, as it is for a large image on a busy machine', async (context) => {
    const { expect, repeatedAlone } = await begin(context);
    const { capture, own } = await repeatedAlone('silent', 4000);
    process.kill(own, 'SIGSTOP');
    await delay(12_000);
    process.kill(own, 'SIGCONT');
    expect((await capture).title).toBe('A slow page');
  });

  it('fail with page_too_large when their own browser hangs, too', async (context) => {
    const { expect, started, repeatedAlone } = await begin(context);
    const { capture, own } = await repeatedAlone('hangs', 60_000);
    process.kill(own, 'SIGSTOP');
    expect(await failureOf(capture)).toMatchObject({
      code: 'page_too_large',
      message: expect.stringContaining('alone in a browser'),
    });
    await expect
      .poll(() => started.events)
      .toContainEqual(expect.objectContaining({ type: 'browser.crashed', cause: 'hang', pid: own }));
  });
});

const browsersOfOne = ({ actor }: RunningActor) =>
  actor
    .stats()
    .browsers.filter(({ retiring }) => retiring)
    .map(({ pid }) => pid);

const browsersOfMany = ({ actor }: RunningActor) =>
  actor
    .stats()
    .browsers.filter(({ retiring }) => !retiring)
    .map(({ pid }) => pid);
