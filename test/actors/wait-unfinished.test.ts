import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { MAX_SETTLE_MS } from '../../src/page/wait/await-settled.ts';
import { DECORATED_PAGES, FINISHED_PAGES, UNFINISHED_PAGES } from '../fixtures/unfinished-routes.ts';
import { type Colour, colourAt, pngOf } from '../support/image.ts';
import { NARROW, siteAndActor } from '../support/site-and-actor.ts';

const GREEN: Colour = [0, 160, 0, 255];

describe('a page that shows that it is not done', () => {
  const { capture, site } = siteAndActor({ viewport: NARROW });

  const pathOf = (page: string, ms = '') => `/unfinished?page=${encodeURIComponent(page)}&ms=${ms || 1200}`;

  /** How long a capture waits. On a busy machine a page may need several: the tests of one that is done try again. */
  const waitOf = async (path: string, options: CaptureOptions = {}) => (await capture(path, options)).timings.wait;

  it.concurrent.each(UNFINISHED_PAGES)('is captured when it is done: %s', async (page) => {
    const snapshot = await capture(pathOf(page));
    expect(colourAt(await pngOf(snapshot), 100, 100)).toEqual(GREEN);
    expect(snapshot.cutPhase).toBeNull();
  });

  it.concurrent.each(['300', '700', '1500'])('is captured when its content comes %s ms after the load', async (ms) => {
    expect(colourAt(await pngOf(await capture(pathOf('skeleton', ms))), 100, 100)).toEqual(GREEN);
  });

  it('captures a canvas that is done, also when each frame takes more than 100 ms', async () => {
    const snapshot = await capture(`${pathOf('canvas', '1600')}&blurs=4`);
    expect(colourAt(await pngOf(snapshot), 100, 100)).toEqual(GREEN);
  });

  it('waits until the limit for a canvas that takes longer, in frames of more than half a second', async () => {
    const { timings } = await capture(`${pathOf('canvas', '20000')}&blurs=16`, { timeoutMs: 120_000 });
    expect(timings.wait).toBeGreaterThan(0.9 * MAX_SETTLE_MS);
  });

  it('captures a page where a script redirects it to', async () => {
    const snapshot = await capture('/unfinished/redirecting');
    expect(snapshot).toMatchObject({ finalUrl: site.url('/short'), cutPhase: null });
  });

  it('captures a page as it is, and completely, when it is not done 3 s after the load', async () => {
    const snapshot = await capture(pathOf('skeleton', '60000'));
    expect(snapshot).toMatchObject({ title: 'skeleton', cutPhase: null });
  });

  it('captures a page at once with waitUntil load', async () => {
    await expect.poll(() => waitOf(pathOf('skeleton', '60000'), { waitUntil: 'load' })).toBeLessThan(MAX_SETTLE_MS);
  });

  it.each(FINISHED_PAGES)('does not delay a page that is done: %s', async (page) => {
    await expect.poll(() => waitOf(pathOf(page))).toBeUndefined();
  });

  it.each(DECORATED_PAGES)('does not delay a page for its decoration: %s', async (page) => {
    await expect.poll(() => waitOf(pathOf(page))).toBeLessThan(MAX_SETTLE_MS);
  });
});
