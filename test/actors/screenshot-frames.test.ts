import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience, startActor } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];
const RED: Colour = [200, 0, 0, 255];
const WHITE: Colour = [255, 255, 255, 255];
const MASK: Colour = [255, 0, 255, 255];

/** Width of windows. */
const WIDTH = 640;

const ground = siteAndActor();
const otherPort = siteForSuite();
const otherSite = (path: string) => otherPort.url(path).replace('127.0.0.1', 'localhost');

const capture = (query: Record<string, string>, options: CaptureOptions, { actor } = ground.running) => {
  const path = `/frames/below?${new URLSearchParams(query)}`;
  const viewport = { width: WIDTH, height: 720 };
  return actor.capture(captureRequest(ground.site.url(path), { elementMap: false, viewport, ...options }), patience);
};

/** Number of pixels of the frame's corner square. `GROUND` is that of the rest of the frame. */
const SQUARE = 40 * 40;
const GROUND = 300 * 200 - SQUARE;

describe('cross-origin frames outside the window', () => {
  it.each<[string, () => Record<string, string>]>([
    ['another port', () => ({ of: otherPort.url('/frames/green') })],
    ['another site', () => ({ of: otherSite('/frames/green') })],
    ['a sandbox', () => ({ of: ground.site.url('/frames/green'), attributes: 'sandbox' })],
    ['another site, loaded lazily', () => ({ of: otherSite('/frames/green'), attributes: 'loading=lazy' })],
    ['another site, 5000 px below', () => ({ of: otherSite('/frames/green'), top: '5000' })],
    ['another site, right of the window', () => ({ of: otherSite('/frames/green'), top: '100', left: '2000' })],
    ['another site, partly in the window', () => ({ of: otherSite('/frames/green'), top: '650' })],
  ])('captures frames in a full page: %s', async (_, query) => {
    const { top = '1000', left = '100', ...rest } = query();
    const png = await pngOf(await capture({ top, left, ...rest }, { fullPage: true }));
    expect(colourAt(png, Number(left) + 1, Number(top) + 1)).toEqual(GREEN);
    expect(colourAt(png, Number(left) + 299, Number(top) + 199)).toEqual(BLUE);
    expect([countOf(png, GREEN), countOf(png, BLUE)]).toEqual([GROUND, SQUARE]);
  });

  it('captures frames by a selector and in a clip', async () => {
    const of = otherSite('/frames/green');
    const element = await pngOf(await capture({ of }, { selector: 'iframe' }));
    expect([countOf(element, GREEN), countOf(element, BLUE)]).toEqual([GROUND, SQUARE]);
    const clip = await pngOf(await capture({ of }, { clip: { x: 250, y: 1100, width: 200, height: 200 } }));
    expect(countOf(clip, GREEN)).toBe(150 * 100 - SQUARE);
    expect(colourAt(clip, 149, 99)).toEqual(BLUE);
    expect(colourAt(clip, 150, 100)).toEqual(WHITE);
  });

  it("captures frames that contain frames, and frames within frames of the page's own origin", async () => {
    const inner = otherSite('/frames/green');
    for (const outer of [otherPort, ground.site]) {
      const of = outer.url(`/frames/around?of=${encodeURIComponent(inner)}`);
      const png = await pngOf(await capture({ of }, { fullPage: true }));
      expect(colourAt(png, 111, 1011)).toEqual(GREEN);
      expect(countOf(png, GREEN)).toBe(200 * 100 - SQUARE);
    }
  });

  it('captures frames completely when they are taller than the window', async () => {
    const png = await pngOf(await capture({ of: otherSite('/frames/green'), height: '2000' }, { fullPage: true }));
    expect(countOf(png, GREEN)).toBe(300 * 2000 - SQUARE);
    expect(colourAt(png, 399, 2999)).toEqual(BLUE);
  });

  it('captures fixed and sticky elements once, and never on top of frames', async () => {
    const png = await pngOf(await capture({ of: otherSite('/frames/green'), fixed: 'yes' }, { fullPage: true }));
    expect([countOf(png, GREEN), countOf(png, RED)]).toEqual([GROUND, 2 * WIDTH * 60]);
  });

  it('captures frames at each scale factor', async () => {
    for (const deviceScaleFactor of [0.5, 1.5, 2]) {
      const viewport = { width: 800, height: 600, deviceScaleFactor };
      const png = await pngOf(await capture({ of: otherSite('/frames/green') }, { fullPage: true, viewport }));
      expect(png.width).toBe(800 * deviceScaleFactor);
      expect(countOf(png, GREEN)).toBe(GROUND * deviceScaleFactor ** 2);
      expect(colourAt(png, 400 * deviceScaleFactor - 1, 1200 * deviceScaleFactor - 1)).toEqual(BLUE);
    }
  });

  it('hides and masks frames', async () => {
    const of = otherSite('/frames/green');
    const masked = await pngOf(await capture({ of }, { fullPage: true, mask: ['iframe'] }));
    expect([countOf(masked, MASK), countOf(masked, GREEN)]).toEqual([300 * 200, 0]);
    expect(countOf(await pngOf(await capture({ of }, { fullPage: true, hide: ['iframe'] })), GREEN)).toBe(0);
  });

  it('captures frames on a transparent page', async () => {
    const png = await pngOf(
      await capture({ of: otherSite('/frames/green') }, { fullPage: true, omitBackground: true }),
    );
    expect(countOf(png, GREEN)).toBe(GROUND);
    expect(colourAt(png, 5, 5)).toEqual([0, 0, 0, 0]);
  });

  it.each(['jpeg', 'webp'] as const)('captures frames in the requested format: %s', async (format) => {
    const snapshot = await capture({ of: otherSite('/frames/green') }, { fullPage: true, format });
    expect(await sharp(snapshot.image).metadata()).toMatchObject({ format, width: WIDTH, height: 2500 });
    const box = { left: 110, top: 1010, width: 100, height: 100 };
    const pixels = await sharp(snapshot.image).extract(box).png().toBuffer();
    const { channels } = await sharp(pixels).stats();
    expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([0, 16, 0]);
  });

  it('captures frames in a browser that gives each site a process of its own', async () => {
    const browserPath = await browserStartedBy((browser) => `exec ${browser} --site-per-process "$@"`);
    const running = await startActor({ browserPath });
    const frameIn = (url: string) => `/frames/around?of=${encodeURIComponent(url)}`;
    const expectFrames = async (top: string, of: string, fullPage = true) => {
      const png = await pngOf(await capture({ of, top }, { fullPage }, running));
      expect(colourAt(png, 101, Number(top) + 1)).toEqual(BLUE);
      expect(countOf(png, GREEN)).toBe(200 * 100 - SQUARE);
    };
    try {
      const nested = otherSite(frameIn(ground.site.url('/frames/green')));
      for (const top of ['650', '1000', '3000']) await expectFrames(top, nested);
      // A frame whose process is busy draws late.
      const busy = ground.site.url(frameIn(otherSite('/frames/green?busy=700')));
      await expectFrames('1000', busy);
      await expectFrames('100', busy, false);
    } finally {
      await running.stop();
    }
  });
});
