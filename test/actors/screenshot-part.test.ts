import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf } from '../support/actor.ts';
import { type Colour, colourAt, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];
const CYAN: Colour = [0, 200, 200, 255];
const FLOATING: Colour = [0, 90, 200, 255];
const WHITE: Colour = [255, 255, 255, 255];

const ground = siteAndActor();

const capture = (overrides: CaptureOptions, path = '/picture/parts') => ground.capture(path, overrides);
const viewport = (width: number, height: number, deviceScaleFactor = 1) => ({
  viewport: { width, height, deviceScaleFactor },
});

describe.concurrent('a viewport', () => {
  it.each([
    [800, 600, 1, 800, 600],
    [400, 300, 2, 800, 600],
    [333, 217, 1.5, 500, 326],
    [1000, 500, 0.1, 100, 50],
    [1, 1, 1, 1, 1],
  ])('captures a viewport of %i by %i at %f as %i by %i pixels', async (width, height, scale, wide, tall) => {
    const snapshot = await capture(viewport(width, height, scale));
    expect(snapshot).toMatchObject({ width: wide, height: tall, truncated: false });
    const png = await pngOf(snapshot);
    expect([png.width, png.height]).toEqual([wide, tall]);
  });

  it.each<[CaptureOptions, number, number]>([
    [{ viewport: { width: 600 } }, 600, 720],
    [{ viewport: { height: 400 } }, 1280, 400],
    [{ device: 'iPhone 15', viewport: { height: 700 } }, 1179, 2100],
  ])(
    'captures a window whose other sides are those of the device or the default: %j',
    async (overrides, wide, tall) => {
      const snapshot = await capture(overrides);
      expect(snapshot).toMatchObject({ width: wide, height: tall });
      expect(await pngOf(snapshot)).toMatchObject({ width: wide, height: tall });
    },
  );

  it('lays the page out in the viewport', async () => {
    const png = await pngOf(await capture(viewport(600, 400, 2)));
    expect(colourAt(png, 2 * 41, 2 * 61)).toEqual(RED);
    expect(colourAt(png, 2 * 599, 2 * 399)).toEqual(FLOATING);
  });

  it('scales a full page, too', async () => {
    const whole = await capture({ ...viewport(500, 400, 2), fullPage: true });
    expect(whole).toMatchObject({ width: 1000, height: 4800, fullHeight: 4800, truncated: false });
    expect((await pngOf(whole)).height).toBe(4800);
  });
});

describe.concurrent('a selector', () => {
  it.each([
    ['#red', 200, 100, RED],
    ['#deep', 300, 150, BLUE],
    ['//div[@id="deep"]', 300, 150, BLUE],
    ['xpath=//div[@id="red"]', 200, 100, RED],
    ['(//div)[1]', 200, 100, RED],
    ['.twice', 200, 100, GREEN],
    ['#floating', 200, 100, FLOATING],
    ['#inner', 200, 50, CYAN],
  ])('shows only the element that %s selects', async (selector, width, height, colour) => {
    const snapshot = await capture({ selector });
    expect(snapshot).toMatchObject({ width, height, truncated: false, fullHeight: 0, cutPhase: null });
    const png = await pngOf(snapshot);
    expect([png.width, png.height]).toEqual([width, height]);
    expect(countOf(png, colour)).toBe(width * height);
  });

  it('captures an element at the scale factor of the viewport', async () => {
    const snapshot = await capture({ ...viewport(800, 600, 2), selector: '#deep' });
    expect(snapshot).toMatchObject({ width: 600, height: 300 });
    expect(countOf(await pngOf(snapshot), BLUE)).toBe(600 * 300);
  });

  it('truncates an element at the maximum height of the format', async () => {
    const snapshot = await capture({ selector: 'main', format: 'webp' }, '/endless-height?px=30000');
    expect(snapshot).toMatchObject({ width: 1280, height: 16_383, truncatedBy: 'format', fullHeight: 0 });
  });

  it('loads the lazy content of an element', async () => {
    const png = await pngOf(await capture({ selector: '.watched' }, '/picture/lazy'));
    expect(colourAt(png, 5, 5)).toEqual(GREEN);
  });

  it.each([
    ['#nowhere', 'the page has no element that matches "#nowhere"'],
    ['//nothing', 'the page has no element that matches "//nothing"'],
    ['#hidden', 'what matches "#hidden" is not visible: it is hidden, cut off by what is around it, or has no size'],
    ['#empty', 'what matches "#empty" is not visible: it is hidden, cut off by what is around it, or has no size'],
  ])('reports that %s is not found: %s', async (selector, reason) => {
    const error = await failureOf(capture({ selector }));
    expect(error.code).toBe('selector_not_found');
    expect(error.message).toBe(reason);
  });
});

describe.concurrent('a clip', () => {
  it('shows that rectangle of the page, also outside the window', async () => {
    const snapshot = await capture({ clip: { x: 20, y: 1780, width: 340, height: 190 } });
    expect(snapshot).toMatchObject({ width: 340, height: 190, truncated: false });
    const png = await pngOf(snapshot);
    expect([png.width, png.height]).toEqual([340, 190]);
    expect(colourAt(png, 19, 19)).toEqual(WHITE);
    expect(colourAt(png, 20, 20)).toEqual(BLUE);
    expect(colourAt(png, 319, 169)).toEqual(BLUE);
    expect(colourAt(png, 320, 170)).toEqual(WHITE);
  });

  it.each([
    ['/picture/right-to-left', 3000, 2500],
    ['/picture/right-to-left?locked', 1280, 780],
  ])('captures a selector and a clip in their places on %s, %i pixels wide', async (path, width, x) => {
    const whole = await capture({ fullPage: true }, path);
    expect(whole).toMatchObject({ width, height: 1500 });
    expect(countOf(await pngOf(whole), BLUE)).toBe(300 * 150);
    expect(colourAt(await pngOf(whole), x, 900)).toEqual(BLUE);
    for (const part of [{ selector: '#deep' }, { clip: { x, y: 900, width: 300, height: 150 } }]) {
      const snapshot = await capture(part, path);
      expect(snapshot).toMatchObject({ width: 300, height: 150 });
      expect(countOf(await pngOf(snapshot), BLUE)).toBe(300 * 150);
    }
    const masked = await pngOf(await capture({ fullPage: true, mask: ['#deep'] }, path));
    expect(countOf(masked, BLUE)).toBe(0);
  });

  it('limits the clip to the page', async () => {
    const snapshot = await capture({ clip: { x: 1000, y: 2300, width: 5000, height: 5000 } });
    expect(snapshot).toMatchObject({ width: 280, height: 100, truncated: false });
    expect((await pngOf(snapshot)).width).toBe(280);
  });

  it('captures at least one pixel', async () => {
    const snapshot = await capture({ ...viewport(1000, 1000, 0.1), clip: { x: 0, y: 0, width: 1, height: 1 } });
    expect(snapshot).toMatchObject({ width: 1, height: 1 });
  });

  it("rejects a clip outside the page with an error that contains the page's size", async () => {
    const error = await failureOf(capture({ clip: { x: 0, y: 2400, width: 10, height: 10 } }));
    expect(error.code).toBe('selector_not_found');
    expect(error.message).toBe('the clip lies outside of the page, which has 1280 by 2400 CSS pixels');
  });
});

describe.concurrent('omitBackground', () => {
  it('leaves unpainted areas of the page transparent', async () => {
    const [clear, opaque] = await Promise.all([capture({ omitBackground: true }), capture({})]);
    expect(colourAt(await pngOf(clear), 5, 5)).toEqual([0, 0, 0, 0]);
    expect(colourAt(await pngOf(clear), 41, 61)).toEqual(RED);
    expect(colourAt(await pngOf(opaque), 5, 5)).toEqual(WHITE);
  });

  it('returns a webp with transparency', async () => {
    const { image } = await capture({ omitBackground: true, format: 'webp' });
    // VP8X is the extended WebP format, which has a flag for an alpha channel.
    expect(Buffer.from(image).toString('latin1', 12, 16)).toBe('VP8X');
    expect(Number(image[20]) & 0x10).toBe(0x10);
  });
});
