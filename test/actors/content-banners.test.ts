import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/capture/snapshot.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';

/* The banners are our own, written to match autoconsent's rules for HubSpot, Osano and cookie-alert. */

describe('a cookie banner', () => {
  const site = siteForSuite();
  const elsewhere = siteForSuite();
  const running = actorForSuite();

  const capture = (path: string, answer?: 'accept' | 'reject', more = {}): Promise<Snapshot> =>
    running.actor.capture(
      captureRequest(site.url(path), {
        acceptCookieBanners: answer === 'accept',
        rejectCookieBanners: answer === 'reject',
        ...more,
      }),
      patience,
    );
  const showsBanner = ({ image }: Snapshot): boolean => {
    const { data } = PNG.sync.read(Buffer.from(image));
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === 255 && data[at + 1] === 0 && data[at + 2] === 255) return true;
    }
    return false;
  };

  it('leaves the banner alone when no answer is requested', async () => {
    const snapshot = await capture('/banner');
    expect([snapshot.title, showsBanner(snapshot)]).toEqual(['not asked', true]);
    expect(snapshot.timings).not.toHaveProperty('interact');
  });

  it.each([
    ['accept', '/banner', 'accepted'],
    ['reject', '/banner', 'declined'],
    ['accept', '/banner?ms=800', 'accepted'],
    ['accept', '/banner-of-scripts', 'accepted'],
    ['reject', '/banner-of-scripts', 'declined'],
  ] as const)('gives the answer %s to the banner on %s', async (answer, path, title) => {
    const snapshot = await capture(path, answer);
    expect([snapshot.title, showsBanner(snapshot), snapshot.cutPhase]).toEqual([title, false, null]);
  });

  it('answers a banner in a cross-origin frame', async () => {
    const of = encodeURIComponent(elsewhere.url('/framed-banner'));
    const snapshot = await capture(`/banner-in-frame?of=${of}`, 'accept');
    expect([snapshot.title, showsBanner(snapshot)]).toEqual(['accepted', false]);
  });

  it.each(['/short', '/blank', '/image.png'])('captures %s, which has no banner', async (path) => {
    const { cutPhase, responseCode } = await capture(path, 'reject');
    expect([cutPhase, responseCode]).toEqual([null, 200]);
  });

  it('stops looking for a banner in a page whose script never ends', async () => {
    const { title, cutPhase } = await capture('/loop', 'reject', { timeoutMs: 8000 });
    expect(title).toBe('A page that spins');
    // The endless script may start before or after the search for a banner.
    expect(['interact', 'settle']).toContain(cutPhase);
  });

  it('leaves no trace of the search in the HTML', async () => {
    const { html } = await capture('/banner', 'reject');
    expect(html).not.toMatch(/autoconsent/i);
  });
});
