import { describe, expect, it } from 'vitest';
import type { CaptureRequest } from '../../src/capture/request.ts';
import { failureOf, patience, type RunningActor } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';

/** Number of captures during that of a hostile page, one after another. */
const NEIGHBOURS = 2;
const TEST_MS = 180_000;
const storming = (by: string, from = 'turns', outcome = 'done'): readonly [string, string] => [
  `/flood?by=${by}&from=${from}&tells`,
  `/flooded?by=${by}&outcome=${outcome}&secure=true`,
];

/** Pages of a storm, each with the request that shows that it does what its name says. */
const STORM = [
  ...['title', 'files', 'cache', 'lock', 'audio'].map((by) => storming(by)),
  ...[1, 2].map(() => storming('shared-worker')),
  storming('texture', 'slow'),
  // A service worker is registered, and stays paused. WebTransport has no way to the network, and WebGPU no adapter.
  ['/flood?by=service-worker&from=turns', '/part?type=text/javascript&text=0'],
  storming('transport', 'slow', 'WebTransportError'),
  storming('gpu', 'slow', 'TypeError'),
] as const;

describe('captures that run at the same time as a hostile page', () => {
  const site = siteForSuite();
  const start = actorPerTest();

  /** Starts captures of hostile pages, at least one of which was requested, until the returned function is called. */
  const capturing = async (
    { actor }: RunningActor,
    path: string,
    count: number,
    wants: Partial<CaptureRequest> = {},
  ) => {
    const leave = new AbortController();
    const request = captureRequest(site.url(path), { timeoutMs: 60_000, ...wants });
    const before = site.hits('/flood');
    const ended = Array.from({ length: count }, () => actor.capture(request, leave.signal).catch(() => undefined));
    await expect.poll(() => site.hits('/flood'), { timeout: 20_000 }).toBeGreaterThan(before);
    return async () => {
      leave.abort();
      await Promise.all(ended);
    };
  };

  const neighbours = async ({ actor }: RunningActor, timeoutMs: number) => {
    for (let visit = 0; visit < NEIGHBOURS; visit += 1) {
      const { cutPhase } = await actor.capture(captureRequest(site.url('/short'), { timeoutMs }), patience);
      expect(cutPhase).toBeNull();
    }
  };

  // With --disable-ipc-flooding-protection, such a page kept the browser process busy, which all pages share.
  it.each([
    ['calls history.pushState in a loop', '/flood?by=push'],
    ['sets location.hash in a loop', '/flood?by=hash'],
    ['calls history.pushState in a loop with URLs of 1.9 MB', '/flood?by=push&bytes=1900000'],
    ['sets location.hash in a loop to 1.9 MB', '/flood?by=hash&bytes=1900000'],
    ['opens frames with URLs of 1.9 MB without end', '/flood?by=frame&from=slow&bytes=1900000'],
    ['writes to localStorage without end', '/flood?by=storage&from=turns'],
    ['opens popups without end', '/flood?by=popup&from=turns'],
  ])(
    'captures other pages during the capture of a page that %s',
    async (_what, path) => {
      const running = await start({ slots: 2 });
      const leave = await capturing(running, path, 1);
      await neighbours(running, 30_000);
      await leave();
      expect(running.actor.stats().crashes).toBe(0);
    },
    TEST_MS,
  );

  // Loopback is a secure context, so pages of the fixture site have all of these.
  it(
    'captures other pages during a storm of everything that secure contexts have, and leaves nothing of it',
    async () => {
      const running = await start({ slots: STORM.length + 1 });
      const before = site.hits('/flood');
      const leaving = await Promise.all(STORM.map(([path]) => capturing(running, path, 1)));
      await expect.poll(() => site.hits('/flood') - before, { timeout: 120_000 }).toBeGreaterThanOrEqual(STORM.length);
      const seen = () => new Set(site.requests.map(({ url }) => url));
      for (const [, sign] of STORM) await expect.poll(seen, { timeout: 120_000, message: sign }).toContain(sign);
      await neighbours(running, 120_000);
      await Promise.all(leaving.map((leave) => leave()));
      const { title } = await running.actor.capture(captureRequest(site.url('/storage-left')), patience);
      expect(title).toBe('0 registrations, 0 caches, 0 files, 0 locks');
    },
    2 * TEST_MS,
  );

  it("keeps Chromium's limit of 200 navigations in 10 s, without which a page starves its neighbours", async () => {
    const { actor } = await start({ slots: 1 });
    const { title } = await actor.capture(captureRequest(site.url('/navigations?count=1000')), patience);
    expect(Number(title)).toBeGreaterThan(0);
    expect(Number(title)).toBeLessThan(1000);
  });

  it('fails a capture with page_too_large when the long URLs of its page exceed 2 MiB together', async () => {
    const { actor } = await start({ slots: 2 });
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
    ['write to the console in a loop', '/flood?by=console&bytes=100000', {}],
    ['write evidence to the console in a loop', '/flood?by=console&bytes=100000', { evidence: ['console'] as const }],
    ['post to a BroadcastChannel from 20 frames', '/flood?by=broadcast&from=frames&count=20', {}],
    ['post to a BroadcastChannel from 8 workers', '/flood?by=broadcast&from=workers', {}],
    ['open frames without end', '/flood?by=frame&from=turns', {}],
  ])(
    'captures other pages during the captures of two pages that %s',
    async (_what, path, wants) => {
      const running = await start({ slots: 3 });
      const leave = await capturing(running, path, 2, wants);
      await neighbours(running, 120_000);
      await leave();
    },
    TEST_MS,
  );
});
