import { describe, expect, it } from 'vitest';
import { patience, startActor } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';

/** Number of captures during that of a hostile page, one after another. */
const NEIGHBOURS = 8;

describe('captures that run at the same time as a hostile page', () => {
  const site = siteForSuite();

  // With --disable-ipc-flooding-protection, such a page kept the browser process busy, which all pages share.
  it.each([
    ['calls history.pushState in a loop', '/flood?by=push'],
    ['sets location.hash in a loop', '/flood?by=hash'],
    ['calls history.pushState in a loop with URLs of 1.9 MB', '/flood?by=push&bytes=1900000'],
    ['sets location.hash in a loop to 1.9 MB', '/flood?by=hash&bytes=1900000'],
    ['opens frames with URLs of 1.9 MB without end', '/flood?by=frames&bytes=1900000'],
  ])(
    'captures other pages during the capture of a page that %s',
    async (_what, path) => {
      const running = await startActor({ slots: 2 });
      try {
        const leave = new AbortController();
        const hostile = running.actor.capture(captureRequest(site.url(path), { timeoutMs: 60_000 }), leave.signal);
        const ended = hostile.catch((error: unknown) => error);
        await expect.poll(() => site.hits('/flood'), { timeout: 10_000 }).toBeGreaterThan(0);
        for (let visit = 0; visit < NEIGHBOURS; visit += 1) {
          const { cutPhase } = await running.actor.capture(
            captureRequest(site.url('/short'), { timeoutMs: 10_000 }),
            patience,
          );
          expect(cutPhase).toBeNull();
        }
        leave.abort();
        await ended;
        expect(running.actor.stats().crashes).toBe(0);
      } finally {
        await running.stop();
      }
    },
    120_000,
  );

  // The browser process has one queue for the messages of all pages. Two such pages, if not ended, delayed each other
  // capture by more than 10 s, until the heartbeat killed the browser.
  it.each([
    ['write to the console', '/flood?by=console&bytes=100000', []],
    ['write evidence to the console', '/flood?by=console&bytes=100000', ['console'] as const],
  ])(
    'ends pages that %s in a loop, and captures other pages meanwhile',
    async (_what, path, evidence) => {
      const running = await startActor({ slots: 3 });
      try {
        const hostile = [1, 2].map(() => {
          const request = captureRequest(site.url(path), { timeoutMs: 60_000, evidence: [...evidence] });
          return running.actor.capture(request, patience).catch((error: unknown) => error);
        });
        await expect.poll(() => site.hits('/flood'), { timeout: 10_000 }).toBeGreaterThan(0);
        const request = captureRequest(site.url('/short'), { timeoutMs: 60_000 });
        for (let visit = 0; visit < NEIGHBOURS; visit += 1) {
          expect((await running.actor.capture(request, patience)).cutPhase).toBeNull();
        }
        for (const error of await Promise.all(hostile)) expect(error).toMatchObject({ code: 'page_too_large' });
        expect(running.actor.stats().crashes).toBe(0);
      } finally {
        await running.stop();
      }
    },
    120_000,
  );
});
