import { describe, expect, it } from 'vitest';
import { requestSchemas } from '../../src/capture/request.ts';
import { MAX_SETTLE_MS } from '../../src/page/wait/await-settled.ts';
import { failureOf } from '../support/actor.ts';
import { LATE } from '../support/capture-request.ts';
import { type Colour, colourAt, pixelsOf, pngOf } from '../support/image.ts';
import { NARROW, siteAndActor, WAITING_SLOTS } from '../support/site-and-actor.ts';

const WHITE: Colour = [255, 255, 255, 255];

describe('the wait before the screenshot', () => {
  const { capture, site } = siteAndActor({ viewport: NARROW }, WAITING_SLOTS);

  /** How long a capture waits. A busy machine may delay a page, so tests that it is not long try again. */
  const waitOf = async (path: string) => (await capture(path)).timings.wait;

  it('does not wait for images, with waitUntil domcontentloaded', async () => {
    const snapshot = await capture('/slow-image?ms=60000', { waitUntil: 'domcontentloaded' });
    expect(snapshot).toMatchObject({ cutPhase: null, title: 'A page with a late image' });
  });

  it('follows redirects by script, with waitUntil domcontentloaded as well', async () => {
    const snapshot = await capture('/js-redirect', { waitUntil: 'domcontentloaded' });
    expect(snapshot).toMatchObject({ cutPhase: null, finalUrl: site.url('/short') });
  });

  it.each(['settled', undefined] as const)(
    'waits for content that is fetched after the load, with waitUntil %s',
    async (waitUntil) => {
      const snapshot = await capture('/late/application', { waitUntil });
      expect(snapshot).toMatchObject({ title: 'Content', cutPhase: null });
      expect(snapshot.html).toContain('<h1>Content</h1>');
    },
  );

  it('waits for content that a worker fetches, and no longer', async () => {
    expect(await capture('/late/worker')).toMatchObject({ title: 'Content', cutPhase: null });
    await expect.poll(() => waitOf('/late/worker')).toBeLessThan(MAX_SETTLE_MS);
  });

  it('does not wait for content that is fetched after the load, with waitUntil load', async () => {
    expect(await capture('/late/application?ms=60000', { waitUntil: 'load' })).toMatchObject({
      title: 'Loading',
      cutPhase: null,
    });
  });

  it.each(['/short', '/medium'])('does not wait when nothing happens after the load, as in %s', async (path) => {
    expect((await capture(path)).cutPhase).toBeNull();
    await expect.poll(() => waitOf(path)).toBeUndefined();
  });

  it('waits for content that a timer adds after the load, without a request', async () => {
    const snapshot = await capture('/late/grows');
    expect(snapshot.title).toBe('tall');
    expect(snapshot.timings).toHaveProperty('wait');
  });

  it('waits for drawing on a canvas after the load, although it changes no element', async () => {
    const png = await pngOf(await capture('/late/drawing'));
    expect(colourAt(png, 100, 100)).toEqual([0, 160, 0, 255]);
  });

  it('waits for images that scripts add just after the load', async () => {
    const png = await pngOf(await capture('/late/images', { fullPage: true }));
    expect(colourAt(png, 100, 50)).not.toEqual(WHITE);
    expect(colourAt(png, 100, 3050)).not.toEqual(WHITE);
  });

  it('ends the wait with a complete capture when a page never stops sending requests', async () => {
    expect(await capture('/late/asking')).toMatchObject({ title: 'asking', cutPhase: null });
  });

  it('does not wait for an element that moves all the time', async () => {
    expect(await capture('/late/restless')).toMatchObject({ title: 'restless', cutPhase: null });
    await expect.poll(() => waitOf('/late/restless')).toBeLessThan(MAX_SETTLE_MS);
  });

  it('waits until no requests are in flight, with waitUntil networkidle', async () => {
    const snapshot = await capture('/late/asking?ms=800', { waitUntil: 'networkidle' });
    expect(snapshot).toMatchObject({ title: 'content', cutPhase: null });
  });

  it('waits until no frame has requests in flight, with waitUntil networkidle', async () => {
    const snapshot = await capture('/late/asking-frame?ms=800', { waitUntil: 'networkidle' });
    expect(snapshot).toMatchObject({ title: 'content', cutPhase: null });
  });

  it('waits for frames that are added later, with waitUntil networkidle', async () => {
    const snapshot = await capture('/late/later-frames', { waitUntil: 'networkidle' });
    expect(snapshot).toMatchObject({ title: 'content', cutPhase: null });
  });

  it('waits until the element is visible in the document that the page navigates to', async () => {
    const snapshot = await capture('/late/moves-on', { waitForSelector: '#late' });
    expect(snapshot).toMatchObject({ title: 'shown', finalUrl: site.url('/late/element?ms=100') });
  });

  it('waits for the delay, which counts as wait time in the timings', async () => {
    expect(await capture('/late/element?ms=200', { delayMs: 1000 })).toMatchObject({
      title: 'shown',
      timings: { wait: expect.toSatisfy((ms) => ms >= 999) },
    });
  });

  it.concurrent('does not wait for an element that no option names', async () => {
    expect(await capture('/late/element?ms=60000')).toMatchObject({ title: 'hidden', cutPhase: null });
  });

  it.concurrent.each(['#late', '//p[@id="late"]', 'xpath=//p'])(
    'waits until %s is visible',
    async (waitForSelector) => {
      expect(await capture('/late/element', { waitForSelector })).toMatchObject({ title: 'shown', cutPhase: null });
    },
  );

  describe.concurrent('at the deadline', () => {
    // First, so that it has a slot at once: its page loads 1.5 s before the waiting time ends.
    it('reports a partial capture when the page has not settled', async () => {
      const loadsAt = Date.now() + 18_500;
      expect(await capture(`/late/asking?loadsAt=${loadsAt}`, LATE)).toMatchObject({ cutPhase: 'wait' });
    });

    // The longest ones first, so that all of them end together.
    it('shows the background colour when the page shows nothing else', async () => {
      const snapshot = await capture('/late/colour', { timeoutMs: 24_000 });
      expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'A colour' });
      expect([...(await pixelsOf(snapshot.image)).data.subarray(0, 3)]).toEqual([0x0b, 0x4f, 0x6c]);
    });

    it('shows a frame when the page shows nothing of its own', async () => {
      const snapshot = await capture('/late/frame', { timeoutMs: 24_000 });
      expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'A frame' });
    });

    it('shows the page without the style sheet that blocked rendering', async () => {
      const snapshot = await capture('/late/style', { timeoutMs: 24_000 });
      expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'Undressed' });
      const png = await pixelsOf(snapshot.image);
      expect(new Set(png.data).size).toBeGreaterThan(5);
    });

    it.each(['/late/head-only', '/late/nothing-to-see'])('times out for %s, which shows nothing', async (path) => {
      const error = await failureOf(capture(path, { timeoutMs: 24_000 }));
      expect(error.code).toBe('capture_timeout');
    });

    it.each([
      [{ waitUntil: 'networkidle' }, '/late/asking'],
      [{ waitForSelector: '#never' }, '/short'],
      [{ waitForSelector: '#late' }, '/late/element?ms=60000'],
      // Nor is there time to scroll through the page, which comes later.
      [{ waitForSelector: '#never', fullPage: true }, '/fullpage-marker'],
      [{ delayMs: 60_000 }, '/short'],
    ] as const)('ends the wait, and reports that it was cut, with %j', async (options, path) => {
      expect(await capture(path, { ...options, ...LATE })).toMatchObject({ cutPhase: 'wait' });
    });

    it('times out for a page whose first byte is late', async () => {
      expect((await failureOf(capture('/slow?ms=60000', { timeoutMs: 1000 }))).code).toBe('capture_timeout');
    });
  });
});

describe('the wait options of a request', () => {
  const { screenshot } = requestSchemas({ maxBatch: 1, timeoutMs: 60_000, maxTimeoutMs: 60_000 });

  it.each([
    [{ waitUntil: 'idle' }, 'settled, load, domcontentloaded, networkidle'],
    [{ waitForSelector: '' }, '1 to 1000 characters'],
    [{ waitForSelector: 'x'.repeat(1001) }, '1 to 1000 characters'],
    [{ delayMs: 60_001 }, '0 to 60000'],
    [{ delayMs: 0.5 }, 'an integer'],
  ])('rejects %j', (options, problem) => {
    const { error } = screenshot.safeParse({ url: 'https://example.com', ...options });
    expect(error?.issues[0]?.message).toContain(problem);
  });
});
