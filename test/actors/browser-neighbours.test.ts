import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf, patience, type RunningActor } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

/** Number of pages that wait for each other before they storm. */
const TOGETHER = 11;
const storming = (by: string, from = 'turns', outcome = 'done'): readonly [string, string] => [
  `/flood?by=${by}&from=${from}&tells=${TOGETHER}`,
  `/flooded?by=${by}&outcome=${outcome}&secure=true&together=${TOGETHER}`,
];

/** Pages of a storm, each with the request that shows that it does what its name says. */
const STORM = [
  ...['title', 'files', 'cache', 'lock'].map((by) => storming(by)),
  // Each of these acts takes a thread.
  ...['audio', 'shared-worker', 'shared-worker'].map((by) => storming(by, 'slow')),
  storming('texture', 'slow'),
  // A service worker is registered, and stays paused: its first act never ends. WebTransport has no way to the network,
  // and WebGPU no adapter.
  [`/flood?by=service-worker&from=turns&tells=${TOGETHER}&awaits=no`, '/part?type=text/javascript&text=first'],
  storming('transport', 'slow', 'WebTransportError'),
  storming('gpu', 'slow', 'TypeError'),
] as const;

describe('captures that run at the same time as a hostile page', () => {
  const site = siteForSuite();
  const start = actorPerTest();
  const shared = actorForSuite({ maxConcurrent: 4 });

  /** Starts captures of hostile pages, each of which was requested, until the returned function is called. */
  const capturing = async ({ actor }: RunningActor, ...pages: readonly (readonly [string, CaptureOptions?])[]) => {
    const leave = new AbortController();
    const before = site.hits('/flood');
    const ended = pages.map(([path, wants]) =>
      actor
        .capture(captureRequest(site.url(path), { ...IN_FEW_PIXELS, timeoutMs: 120_000, ...wants }), leave.signal)
        .catch(() => undefined),
    );
    await expect.poll(() => site.hits('/flood') - before).toBeGreaterThanOrEqual(pages.length);
    return async () => {
      leave.abort();
      await Promise.all(ended);
    };
  };

  /** Captures another page once it has loaded. On a busy machine it may have to be held still for its picture. */
  const neighbour = async ({ actor }: RunningActor, timeoutMs: number) => {
    const request = captureRequest(site.url('/short'), { ...IN_FEW_PIXELS, timeoutMs, waitUntil: 'load' });
    const { title, cutPhase } = await actor.capture(request, patience);
    expect(title).toBe('A small port with deep water · Port of Lindholm');
    expect(cutPhase).toBeOneOf([null, 'picture']);
  };

  // With --disable-ipc-flooding-protection, such a page kept the browser process busy, which all pages share.
  it.each([
    ['call history.pushState and set location.hash in loops', ['/flood?by=push', '/flood?by=hash']],
    [
      'navigate in loops with URLs of 1.9 MB, or open frames with them',
      ['/flood?by=push&bytes=1900000', '/flood?by=hash&bytes=1900000', '/flood?by=frame&from=slow&bytes=1900000'],
    ],
    [
      'write to localStorage and open popups without end',
      ['/flood?by=storage&from=turns', '/flood?by=popup&from=turns'],
    ],
  ])('captures another page during the captures of pages that %s', async (_what, paths) => {
    const seen = shared.events.length;
    const leave = await capturing(shared, ...paths.map((path) => [path] as const));
    await neighbour(shared, 60_000);
    await leave();
    expect(shared.events.slice(seen).filter(({ type }) => type === 'browser.crashed')).toEqual([]);
  });

  // Loopback is a secure context, so pages of the fixture site have all of these.
  it('captures another page during a storm of everything that secure contexts have, and leaves nothing of it', async () => {
    const running = await start({ maxConcurrent: STORM.length + 1 });
    // Without the delay, a page whose first act takes long is captured before it storms.
    const leave = await capturing(running, ...STORM.map(([path]) => [path, { delayMs: 60_000 }] as const));
    await expect.poll(() => STORM.map(([, sign]) => sign).filter((sign) => site.hits(sign) === 0)).toEqual([]);
    await neighbour(running, 120_000);
    await leave();
    const left = captureRequest(site.url('/storage-left'), { waitForSelector: '#counted' });
    const { title } = await running.actor.capture(left, patience);
    expect(title).toBe('0 registrations, 0 caches, 0 files, 0 locks');
  });

  it("keeps Chromium's limit of 200 navigations in 10 s, without which a page starves its neighbours", async () => {
    const { title } = await shared.actor.capture(captureRequest(site.url('/navigations?count=1000')), patience);
    expect(Number(title)).toBeGreaterThan(0);
    expect(Number(title)).toBeLessThan(1000);
  });

  it('fails a capture with page_too_large when the long URLs of its page exceed 2 MiB together', async () => {
    const { actor } = shared;
    const twice = actor.capture(captureRequest(site.url('/navigations?count=2&bytes=1100000')), patience);
    const once = actor.capture(captureRequest(site.url('/navigations?count=1&bytes=1900000')), patience);
    expect(await failureOf(twice)).toMatchObject({
      code: 'page_too_large',
      message: expect.stringContaining('the page navigated to URLs of more than 2097152 characters in all'),
    });
    expect((await once).title).toBe('1');
  });

  // The browser process has one queue for the messages of all pages. Two such pages, if not ended, delayed each other
  // capture by more than 10 s, until the heartbeat killed the browser; repeated beside the same pages, it failed.
  it.each([
    ['write to the console in a loop, one of them with evidence', '/flood?by=console&bytes=100000'],
    ['post to a BroadcastChannel from 20 frames', '/flood?by=broadcast&from=frames&count=20'],
    ['post to a BroadcastChannel from 8 workers', '/flood?by=broadcast&from=workers'],
    ['open frames without end', '/flood?by=frame&from=turns'],
  ])('captures another page during the captures of two pages that %s', async (_what, path) => {
    const running = await start({ maxConcurrent: 3 });
    const leave = await capturing(running, [path, { evidence: ['console'] }], [path]);
    await neighbour(running, 120_000);
    await leave();
  });
});
