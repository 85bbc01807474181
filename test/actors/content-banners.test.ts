import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/capture/snapshot.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';

/* The banners are written anew, after what autoconsent's rules look for in those of HubSpot, Osano and cookie-alert. */

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

  it('stays where nobody asks for an answer', async () => {
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
  ] as const)('is told to %s on %s', async (answer, path, title) => {
    const snapshot = await capture(path, answer);
    expect([snapshot.title, showsBanner(snapshot), snapshot.cutPhase]).toEqual([title, false, null]);
  });

  it('is told so in a frame of another origin, too', async () => {
    const of = encodeURIComponent(elsewhere.url('/framed-banner'));
    const snapshot = await capture(`/banner-in-frame?of=${of}`, 'accept');
    expect([snapshot.title, showsBanner(snapshot)]).toEqual(['accepted', false]);
  });

  it.each(['/short', '/blank', '/image.png'])('that is not there keeps nobody from %s', async (path) => {
    const { cutPhase, responseCode } = await capture(path, 'reject');
    expect([cutPhase, responseCode]).toEqual([null, 200]);
  });

  it('is not looked for for ever in a page whose script never ends', async () => {
    const { title, cutPhase } = await capture('/loop', 'reject', { timeoutMs: 8000 });
    expect(title).toBe('A page that spins');
    // Where the script begins to spin is a race of its own: before the banner is looked for, or after.
    expect(['interact', 'settle']).toContain(cutPhase);
  });

  it('leaves nothing of the search in the HTML', async () => {
    const { html } = await capture('/banner', 'reject');
    expect(html).not.toMatch(/autoconsent/i);
  });
});
