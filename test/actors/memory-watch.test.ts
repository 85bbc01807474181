import { describe, expect, it } from 'vitest';
import { failureOf, patience } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';

const MIB = 1024 ** 2;
/** Time for a page to fill two browsers: the second is its own. */
const CAPTURE_MS = 120_000;

describe('the memory of browsers', () => {
  const site = siteForSuite();
  const start = actorPerTest();

  it('ends a renderer above its bound: only its capture fails, with page_too_large and without a retry', async () => {
    const { actor } = await start({ memory: { renderer: 300 * MIB, browser: 4096 * MIB } });
    const large = failureOf(actor.capture(captureRequest(site.url('/memory')), patience));
    const neighbour = actor.capture(captureRequest(site.url('/slow?ms=3000')), patience);
    expect(await large).toMatchObject({ code: 'page_too_large' });
    expect((await neighbour).title).toBe('A slow page');
    expect(site.hits('/memory')).toBe(1);
    expect(actor.stats().crashes).toBe(0);
  });

  it(
    'ends a renderer that exceeds its bound while a full page is drawn, with page_too_large',
    async () => {
      const { actor } = await start({ memory: { renderer: 120 * MIB, browser: 4096 * MIB } });
      const options = { fullPage: true, timeoutMs: CAPTURE_MS };
      const small = actor.capture(captureRequest(site.url('/tall?px=5000'), options), patience);
      expect((await small).height).toBe(5000);
      const large = failureOf(actor.capture(captureRequest(site.url('/late/rows?rows=20000'), options), patience));
      expect(await large).toMatchObject({ code: 'page_too_large' });
    },
    2 * CAPTURE_MS,
  );

  it(
    'captures a full page of 30,000 elements, of which Chromium keeps everything that it paints beyond the window',
    async () => {
      const { actor } = await start({ memory: { renderer: 300 * MIB, browser: 4096 * MIB } });
      const options = { fullPage: true, timeoutMs: CAPTURE_MS, viewport: { width: 640, height: 1_440 } };
      const snapshot = await actor.capture(captureRequest(site.url('/late/rows?rows=3000'), options), patience);
      expect(snapshot).toMatchObject({ truncated: false, cutPhase: null });
      expect(snapshot.height).toBeGreaterThan(60_000);
    },
    2 * CAPTURE_MS,
  );

  it('replaces a browser process above its bound', async () => {
    const { actor, next } = await start({ memory: { renderer: 4096 * MIB, browser: 10 * MIB } });
    const replaced = next('browser.launched');
    const slow = actor.capture(captureRequest(site.url('/slow?ms=3000')), patience);
    await replaced;
    // Running captures end on the replaced browser.
    expect((await slow).title).toBe('A slow page');
    expect(actor.stats().crashes).toBe(0);
  });

  it(
    'kills a browser process that a page fills with blobs, and captures the page beside it',
    async () => {
      const { actor } = await start({ memory: { renderer: 4096 * MIB, browser: 100 * MIB } });
      const capture = (path: string) =>
        actor.capture(captureRequest(site.url(path), { timeoutMs: CAPTURE_MS }), patience);
      const large = failureOf(capture('/memory?blobs'));
      const neighbour = capture('/slow?ms=3000');
      expect(await large).toMatchObject({ code: 'page_too_large' });
      expect((await neighbour).title).toBe('A slow page');
    },
    2 * CAPTURE_MS,
  );
});
