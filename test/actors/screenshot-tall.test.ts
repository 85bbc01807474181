import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { holdable } from '../../src/page/screenshot/screenshot-size.ts';
import { planShot } from '../../src/page/screenshot/shot-plan.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, countOf, type Pixels, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];

/** Width of windows: what is shown of a tall page does not depend on it. */
const WIDTH = 400;
/** Height of windows: the higher, the fewer steps it takes to scroll a page. */
const HEIGHT = 4_000;

const ground = siteAndActor();
const otherSite = siteForSuite();

const capture = (query: Record<string, string>, options: CaptureOptions = {}) => {
  const viewport = { width: WIDTH, height: HEIGHT };
  return ground.capture(`/tall?${new URLSearchParams(query)}`, { fullPage: true, viewport, ...options });
};

/** Colour of a row of `/tall`, which is 500 CSS px high. */
const rowColour = (at: number): Colour => [Math.floor(at / 10) * 2, (at % 10) * 20, 100, 255];

/** Returns two colours of each row: in its middle, and at its end. */
const rowsOf = (png: Pixels, scale = 1): readonly Colour[] => {
  const tall = 500 * scale;
  return Array.from({ length: png.height / tall }, (_, row) => [
    colourAt(png, 10, Math.round((row + 0.5) * tall)),
    colourAt(png, 10, (row + 1) * tall - 1),
  ]).flat();
};

const expectedRows = (count: number) =>
  Array.from({ length: count }, (_, row) => [rowColour(row), rowColour(row)]).flat();

describe('a full page that is higher than one screenshot', () => {
  it.each([
    ['100,000 px', 100_000, {}],
    ['40,000 px, whose content the browser skips outside the window', 40_000, { skipped: '' }],
    ['40,000 px with 24,000 elements', 40_000, { cells: '300' }],
  ])('shows every row of %s, and what is fixed or sticky once', async (_, px, query) => {
    const snapshot = await capture({ px: String(px), ...query }, { viewport: { width: 100, height: HEIGHT } });
    expect(snapshot).toMatchObject({ width: 100, height: px, fullHeight: px, cutPhase: null });
    expect(snapshot).toMatchObject({ truncated: false, truncatedBy: '' });
    const png = await pngOf(snapshot);
    expect([png.width, png.height]).toEqual([100, px]);
    expect(rowsOf(png)).toEqual(expectedRows(px / 500));
    // The right column shows 60 rows of the header, and 50 of the button at the end of the window.
    const isRed = (y: number) => colourAt(png, 99, y).join() === RED.join();
    const right = Array.from({ length: px }, (_, y) => y).filter(isRed);
    expect(right).toHaveLength(60 + 50);
    expect([right[0], right.at(-1)]).toEqual([0, HEIGHT - 1]);
  });

  it.each([3, 2.625, 1.5])('shows every row on a phone with the scale %f', async (deviceScaleFactor) => {
    const viewport = { width: 200, height: HEIGHT, deviceScaleFactor };
    const snapshot = await capture({ px: '12000' }, { viewport });
    const size = { width: 200 * deviceScaleFactor, height: 12_000 * deviceScaleFactor };
    expect(snapshot).toMatchObject({ ...size, fullHeight: size.height, truncatedBy: '' });
    const png = await pngOf(snapshot);
    expect(png).toMatchObject(size);
    if (Number.isInteger(deviceScaleFactor * 4)) expect(rowsOf(png, deviceScaleFactor)).toEqual(expectedRows(24));
  });

  it.each([
    ['few', '1'],
    ['24,000', '600'],
  ])(
    'keeps the height of what is as high as the window, and shows a clip, in a page of %s elements',
    async (_, cells) => {
      const query = { px: '20000', cells, cover: '' };
      const png = await pngOf(await capture(query));
      expect(countOf(png, BLUE)).toBe(10 * HEIGHT);
      expect(colourAt(png, 335, HEIGHT - 1)).toEqual(BLUE);
      const clip = { x: 100, y: 18_000, width: 200, height: 1_000 };
      const clipped = await pngOf(await capture(query, { fullPage: false, clip }));
      expect([clipped.width, clipped.height]).toEqual([200, 1_000]);
      expect([colourAt(clipped, 10, 10), colourAt(clipped, 199, 999)]).toEqual([rowColour(36), rowColour(37)]);
    },
  );

  it('shows a frame of another origin that lies across two parts of the image', async () => {
    const of = otherSite.url('/frames/green').replace('127.0.0.1', 'localhost');
    const png = await pngOf(await capture({ px: '20000', of, top: '16000' }));
    expect(png.height).toBe(20_000);
    expect([countOf(png, GREEN), countOf(png, BLUE)]).toEqual([300 * 600 - 40 * 40, 40 * 40]);
    expect(colourAt(png, 101, 16_001)).toEqual(GREEN);
    expect(colourAt(png, 399, 16_599)).toEqual(BLUE);
  });

  it('keeps transparency', async () => {
    const png = await pngOf(await capture({ px: '20000', width: '200px' }, { omitBackground: true }));
    expect(png.height).toBe(20_000);
    expect(colourAt(png, 300, 19_000)).toEqual([0, 0, 0, 0]);
    expect(colourAt(png, 10, 19_999)).toEqual(rowColour(39));
  });

  it('holds 65,500 px as a jpeg, and names the format as the cause of what is missing', async () => {
    const viewport = { width: 100, height: HEIGHT };
    const whole = await capture({ px: '65500' }, { format: 'jpeg', viewport });
    expect(whole).toMatchObject({ height: 65_500, fullHeight: 65_500, truncatedBy: '' });
    expect((await sharp(whole.image).metadata()).height).toBe(65_500);
    const cut = await capture({ px: '70000' }, { format: 'jpeg', viewport });
    expect(cut).toMatchObject({ height: 65_500, fullHeight: 70_000, truncated: true, truncatedBy: 'format' });
  });

  it('holds 16,383 px as a webp, and names the format as the cause of what is missing', async () => {
    const cut = await capture({ px: '20000' }, { format: 'webp', viewport: { width: 100, height: HEIGHT } });
    expect(cut).toMatchObject({ height: 16_383, fullHeight: 20_000, truncated: true, truncatedBy: 'format' });
    expect((await sharp(cut.image).metadata()).height).toBe(16_383);
  });

  it('cuts a page at 200,000 CSS px, and names the limit as the cause', async () => {
    const viewport = { width: 100, height: HEIGHT, deviceScaleFactor: 0.5 };
    const cut = await capture({ px: '210000' }, { viewport });
    expect(cut).toMatchObject({ height: 100_000, fullHeight: 105_000, truncated: true, truncatedBy: 'limit' });
  });

  it('cuts a page at maxHeight CSS px, and names it as the cause', async () => {
    const viewport = { width: 100, height: HEIGHT, deviceScaleFactor: 2 };
    const cut = await capture({ px: '50000' }, { viewport, maxHeight: 9_500 });
    expect(cut).toMatchObject({ height: 19_000, fullHeight: 100_000, truncated: true, truncatedBy: 'maxHeight' });
    expect(rowsOf(await pngOf(cut), 2)).toEqual(expectedRows(19));
    expect(await capture({ px: '5000' }, { maxHeight: 9_500 })).toMatchObject({ height: 5_000, truncatedBy: '' });
  });

  it('ends before the part with which its bands would have more than 128 MiB, and names the limit as the cause', async () => {
    const url = ground.site.url('/tall/noise?px=36000');
    const viewport = { width: 1280, height: HEIGHT };
    const request = captureRequest(url, { fullPage: true, format: 'jpeg', quality: 1, viewport, timeoutMs: 120_000 });
    const cut = await ground.running.actor.capture(request, patience);
    expect(cut).toMatchObject({ fullHeight: 36_000, truncated: true, truncatedBy: 'limit' });
    const { height } = await sharp(cut.image, { limitInputPixels: false }).metadata();
    expect([cut.height, height]).toEqual([2 * 16_384, 2 * 16_384]);
  });

  it('shows as many whole parts as the time suffices for, and is partial', async () => {
    const viewport = { width: 2560, height: 720 };
    const snapshot = await capture({ px: '190000' }, { viewport, timeoutMs: 12_000 });
    expect(snapshot).toMatchObject({ truncatedBy: 'time', truncated: true, cutPhase: expect.any(String) });
    expect(snapshot.fullHeight).toBe(190_000);
    const { width, height } = await sharp(snapshot.image, { limitInputPixels: false }).metadata();
    expect([width, height]).toEqual([snapshot.width, snapshot.height]);
  });

  it('limits the width and the pixels of a very wide page as well', async () => {
    const url = ground.site.url('/endless-height?wide=50000&px=800');
    const request = captureRequest(url, { fullPage: true, format: 'jpeg', timeoutMs: 120_000 });
    const snapshot = await ground.running.actor.capture(request, patience);
    expect(snapshot).toMatchObject({ truncatedBy: 'limit', width: 16_384, height: 800 });
    const { width, height } = await sharp(snapshot.image, { limitInputPixels: false }).metadata();
    expect([width, height]).toEqual([16_384, 800]);
    const { size } = holdable({ x: 0, y: 0, width: 50_000, height: 50_000 }, planShot(request));
    expect(size).toMatchObject({ truncatedBy: 'limit', width: 16_384, height: 24_414 });
  });
});

describe('an element and a clip that are higher than one screenshot', () => {
  it.each<[string, CaptureOptions, number]>([
    ['an element', { selector: 'body' }, 0],
    ['a clip', { clip: { x: 0, y: 1_000, width: WIDTH, height: 19_000 } }, 2],
  ])('shows all of %s', async (_, options, firstRow) => {
    const snapshot = await capture({ px: '20000' }, { fullPage: false, ...options });
    const count = 40 - firstRow;
    expect(snapshot).toMatchObject({ height: count * 500, truncatedBy: '' });
    expect(rowsOf(await pngOf(snapshot))).toEqual(expectedRows(40).slice(firstRow * 2));
  });
});
