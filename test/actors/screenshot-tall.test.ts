import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/snapshot.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];

/** Longer than the deadline of a capture. */
const LONG_MS = 90_000;

const ground = siteAndActor();
const otherSite = siteForSuite();

const capture = (query: Record<string, string>, options: CaptureOptions = {}) => {
  const path = `/tall?${new URLSearchParams(query)}`;
  const request = captureRequest(ground.site.url(path), { fullPage: true, timeoutMs: 60_000, ...options });
  return ground.running.actor.capture(request, patience);
};

/** Colour of a row of `/tall`, which is 500 CSS px high. */
const rowColour = (at: number): Colour => [Math.floor(at / 10) * 2, (at % 10) * 20, 100, 255];

/** Reads the column of an image at `left` px. */
async function columnOf({ image }: Snapshot, left: number): Promise<{ size: number[]; colours: Colour[] }> {
  const { width, height } = await sharp(image, { limitInputPixels: false }).metadata();
  const column = sharp(image, { limitInputPixels: false }).extract({ left, top: 0, width: 1, height });
  const data = await column.ensureAlpha().raw().toBuffer();
  const colours = Array.from({ length: height }, (_, y): Colour => {
    const [red = -1, green = -1, blue = -1, alpha = -1] = data.subarray(y * 4, y * 4 + 4);
    return [red, green, blue, alpha];
  });
  return { size: [width, height], colours };
}

/** Reads two colours of each row: in its middle, and at its end. */
async function rowsOf(snapshot: Snapshot, scale = 1): Promise<{ size: number[]; colours: (Colour | undefined)[] }> {
  const { size, colours } = await columnOf(snapshot, 10);
  const tall = 500 * scale;
  const rows = Array.from({ length: colours.length / tall }, (_, row) => [
    colours[Math.round((row + 0.5) * tall)],
    colours[(row + 1) * tall - 1],
  ]);
  return { size, colours: rows.flat() };
}

const expectedRows = (count: number) =>
  Array.from({ length: count }, (_, row) => [rowColour(row), rowColour(row)]).flat();

describe('a full page that is higher than one screenshot', () => {
  it.each([
    ['100,000 px', 100_000, {}],
    ['40,000 px, whose content the browser skips outside the window', 40_000, { skipped: '' }],
    ['40,000 px with 40,000 elements', 40_000, { cells: '500' }],
  ])(
    'shows every row of %s, and what is fixed or sticky once',
    async (_, px, query) => {
      const snapshot = await capture({ px: String(px), ...query });
      expect(snapshot).toMatchObject({ width: 1280, height: px, fullHeight: px, cutPhase: null });
      expect(snapshot).toMatchObject({ truncated: false, truncatedBy: '' });
      const { size, colours } = await rowsOf(snapshot);
      expect(size).toEqual([1280, px]);
      expect(colours).toEqual(expectedRows(px / 500));
      // The right column shows 60 rows of the header, and 50 of the button at the end of the window.
      const right = (await columnOf(snapshot, 1279)).colours.flatMap((each, y) =>
        each.join() === RED.join() ? [y] : [],
      );
      expect(right).toHaveLength(60 + 50);
      expect([right[0], right.at(-1)]).toEqual([0, 719]);
    },
    LONG_MS,
  );

  it.each([3, 2.625, 1.5])('shows every row on a phone with the scale %f', async (deviceScaleFactor) => {
    const viewport = { width: 400, height: 800, deviceScaleFactor };
    const snapshot = await capture({ px: '12000' }, { viewport });
    const height = 12_000 * deviceScaleFactor;
    expect(snapshot).toMatchObject({ width: 400 * deviceScaleFactor, height, fullHeight: height, truncatedBy: '' });
    const { size, colours } = await rowsOf(snapshot, deviceScaleFactor);
    expect(size).toEqual([400 * deviceScaleFactor, height]);
    if (Number.isInteger(deviceScaleFactor * 4)) expect(colours).toEqual(expectedRows(24));
  });

  it.each([
    ['few', '1'],
    ['40,000', '1000'],
  ])(
    'keeps the height of what is as high as the window, and shows a clip, in a page of %s elements',
    async (_, cells) => {
      const query = { px: '20000', cells, cover: '' };
      const png = await pngOf(await capture(query));
      expect(countOf(png, BLUE)).toBe(10 * 720);
      expect(colourAt(png, 1215, 719)).toEqual(BLUE);
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
    const png = await pngOf(await capture({ px: '20000', width: '640px' }, { omitBackground: true }));
    expect(png.height).toBe(20_000);
    expect(colourAt(png, 1000, 19_000)).toEqual([0, 0, 0, 0]);
    expect(colourAt(png, 10, 19_999)).toEqual(rowColour(39));
  });

  it('holds 65,500 px as a jpeg, and names the format as the cause of what is missing', async () => {
    const viewport = { width: 400, height: 800 };
    const whole = await capture({ px: '65500' }, { format: 'jpeg', viewport });
    expect(whole).toMatchObject({ height: 65_500, fullHeight: 65_500, truncatedBy: '' });
    expect((await sharp(whole.image).metadata()).height).toBe(65_500);
    const cut = await capture({ px: '70000' }, { format: 'jpeg', viewport });
    expect(cut).toMatchObject({ height: 65_500, fullHeight: 70_000, truncated: true, truncatedBy: 'format' });
  });

  it('holds 16,383 px as a webp, and names the format as the cause of what is missing', async () => {
    const cut = await capture({ px: '20000' }, { format: 'webp' });
    expect(cut).toMatchObject({ height: 16_383, fullHeight: 20_000, truncated: true, truncatedBy: 'format' });
    expect((await sharp(cut.image).metadata()).height).toBe(16_383);
  });

  it('cuts a page at 200,000 CSS px, and names the limit as the cause', async () => {
    const viewport = { width: 100, height: 4_000, deviceScaleFactor: 0.5 };
    const cut = await capture({ px: '210000' }, { viewport });
    expect(cut).toMatchObject({ height: 100_000, fullHeight: 105_000, truncated: true, truncatedBy: 'limit' });
  });

  it('cuts a page at maxHeight CSS px, and names it as the cause', async () => {
    const viewport = { width: 400, height: 800, deviceScaleFactor: 2 };
    const cut = await capture({ px: '50000' }, { viewport, maxHeight: 9_500 });
    expect(cut).toMatchObject({ height: 19_000, fullHeight: 100_000, truncated: true, truncatedBy: 'maxHeight' });
    expect((await rowsOf(cut, 2)).colours).toEqual(expectedRows(19));
    expect(await capture({ px: '5000' }, { maxHeight: 9_500 })).toMatchObject({ height: 5_000, truncatedBy: '' });
  });

  it(
    'ends before the part with which its bands would have more than 128 MiB, and names the limit as the cause',
    async () => {
      const request = captureRequest(ground.site.url('/tall/noise?px=38000'), { fullPage: true, timeoutMs: 60_000 });
      const cut = await ground.running.actor.capture(request, patience);
      expect(cut).toMatchObject({ fullHeight: 38_000, truncated: true, truncatedBy: 'limit' });
      const { height } = await sharp(cut.image, { limitInputPixels: false }).metadata();
      expect([cut.height, height]).toEqual([2 * 16_384, 2 * 16_384]);
    },
    LONG_MS,
  );

  it('shows as many whole parts as the time suffices for, and is partial', async () => {
    const snapshot = await capture({ px: '190000' }, { timeoutMs: 7_000 });
    expect(snapshot).toMatchObject({ truncatedBy: 'time', truncated: true, cutPhase: expect.any(String) });
    expect(snapshot.fullHeight).toBe(190_000);
    const { size } = await rowsOf(snapshot);
    expect(size).toEqual([snapshot.width, snapshot.height]);
  });

  it('limits the pixels of a very wide page as well', async () => {
    const url = ground.site.url('/endless-height?wide=50000&px=50000');
    const request = captureRequest(url, { fullPage: true, format: 'jpeg', timeoutMs: 120_000 });
    const snapshot = await ground.running.actor.capture(request, patience);
    expect(snapshot).toMatchObject({ truncatedBy: 'limit', width: 16_384, height: 24_414 });
    const { width, height } = await sharp(snapshot.image, { limitInputPixels: false }).metadata();
    expect([width, height]).toEqual([16_384, 24_414]);
  });
});

describe('an element and a clip that are higher than one screenshot', () => {
  it.each<[string, CaptureOptions, number]>([
    ['an element', { selector: 'body' }, 0],
    ['a clip', { clip: { x: 0, y: 1_000, width: 1280, height: 19_000 } }, 2],
  ])('shows all of %s', async (_, options, firstRow) => {
    const snapshot = await capture({ px: '20000' }, { fullPage: false, ...options });
    const count = 40 - firstRow;
    expect(snapshot).toMatchObject({ height: count * 500, truncatedBy: '' });
    expect((await rowsOf(snapshot)).colours).toEqual(expectedRows(40).slice(firstRow * 2));
  });
});
