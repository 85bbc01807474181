import { describe, expect, it } from 'vitest';
import type { CaptureRequest } from '../../src/capture/request.ts';
import { type Colour, colourAt, countOf, pngOf } from '../support/image.ts';
import { ON_ONE_PAGE, siteAndActor } from '../support/site-and-actor.ts';

const GREEN: Colour = [0, 160, 0, 255];
const SIDE = 40;

type Place = readonly [x: number, y: number];

describe.concurrent('the writing direction', () => {
  const ground = siteAndActor({ elementMap: false, ...ON_ONE_PAGE });

  const capture = (page: string, overrides: Partial<CaptureRequest>) => ground.capture(`/direction/${page}`, overrides);

  // Width and height of the whole page, and the upper left corner of each square in its screenshot, in pixels.
  const PAGES: readonly (readonly [page: string, width: number, height: number, squares: Record<string, Place>])[] = [
    ['rtl-short', 1280, 720, { a: [1240, 0], b: [0, 600] }],
    ['rtl-narrow', 1280, 720, { a: [1240, 0], b: [580, 200] }],
    ['rtl-wide', 2000, 720, { a: [1960, 0], b: [0, 100] }],
    ['rtl-locked', 1280, 720, { a: [1240, 0] }],
    ['rtl-body', 2000, 720, { a: [1960, 0] }],
    ['rtl-both-ways', 1780, 940, { a: [0, 0], b: [1740, 900] }],
    ['ltr-both-ways', 1340, 720, { a: [1300, 100], b: [0, 300] }],
    ['vertical-short', 1280, 720, { a: [1240, 0] }],
    ['vertical-wide', 2000, 720, { a: [1960, 0], b: [0, 200] }],
    ['vertical-tall', 1280, 1500, { a: [1240, 0], b: [1240, 1460] }],
  ];

  it.each(PAGES)('shows the squares of %s in place in a full page, %i by %i', async (page, width, height, squares) => {
    const snapshot = await capture(page, { fullPage: true });
    expect(snapshot).toMatchObject({ width, height, fullHeight: height, truncated: false });
    const png = await pngOf(snapshot);
    expect([png.width, png.height]).toEqual([width, height]);
    for (const [x, y] of Object.values(squares)) {
      expect(colourAt(png, x, y)).toEqual(GREEN);
      expect(colourAt(png, x + SIDE - 1, y + SIDE - 1)).toEqual(GREEN);
    }
    expect(countOf(png, GREEN)).toBe(Object.keys(squares).length * SIDE * SIDE);
  });

  it.each(PAGES)('shows each square of %s by a selector and by a clip', async (page, _width, _height, squares) => {
    for (const [id, [x, y]] of Object.entries(squares)) {
      for (const part of [{ selector: `#${id}` }, { clip: { x, y, width: SIDE, height: SIDE } }]) {
        const snapshot = await capture(page, part);
        expect(snapshot).toMatchObject({ width: SIDE, height: SIDE });
        expect(countOf(await pngOf(snapshot), GREEN)).toBe(SIDE * SIDE);
      }
    }
  });

  it.each(['rtl-short', 'rtl-narrow', 'vertical-short'])(
    'shows %s, which fits the window, in full as in the window',
    async (page) => {
      const [window, full] = await Promise.all([capture(page, {}), capture(page, { fullPage: true })]);
      expect(Buffer.from(full.image).equals(Buffer.from(window.image))).toBe(true);
    },
  );
});
