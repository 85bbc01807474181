import type { Locator } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, pixelsOf } from '../support/image.ts';
import { OVERFLOW } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

const Captured = z.object({ data: z.object({ id: z.number(), height: z.number() }) });
const HEIGHT = 30_000;

/** Colours of the header, of the first row that it does not cover, and of the last row of `/tall`. */
const HEADER: Colour = [200, 0, 0, 255];
const FIRST_ROW: Colour = [0, 0, 100, 255];
const LAST_ROW: Colour = [10, 180, 100, 255];

describe('a capture of 30,000 px in the web interface', () => {
  const site = siteForSuite();
  const ui = uiForSuite();
  let id = 0;

  beforeAll(async () => {
    const request = { url: site.url(`/tall?px=${HEIGHT}`), fullPage: true, timeoutMs: 120_000 };
    const response = await ui.app.post('/screenshot', request);
    const { data } = Captured.parse(await response.json());
    expect(data.height).toBe(HEIGHT);
    id = data.id;
  });

  /** Resolves with the colour that an element shows at this distance from its top, or from its bottom when negative. */
  const shown = async (element: Locator, y: number): Promise<Colour> => {
    const png = await pixelsOf(await element.screenshot());
    return colourAt(png, 4, y < 0 ? png.height + y : y);
  };

  describe.each([
    ['1280', { width: 1280, height: 800 }],
    ['390', { width: 390, height: 844 }],
  ])('in a window of %s px', (_width, viewport) => {
    it('has a card of the usual size, with the top of the page', async () => {
      const page = await ui.open('/ui/', { viewport });
      const card = page.locator('.card', { has: page.locator(`a[href="/ui/results/${id}"]`) });
      const image = card.locator('img');
      await image.waitFor();
      await expect.poll(() => image.evaluate(({ complete, naturalWidth }) => complete && naturalWidth > 0)).toBe(true);
      const { width = 0, height = 0 } = (await card.boundingBox()) ?? {};
      expect(width).toBeLessThanOrEqual(viewport.width);
      expect(height).toBeLessThan(viewport.height / 2);
      const [red = 0, green = 0, blue = 0] = await shown(image, 4);
      expect([Math.abs(red - 200), green, blue].every((difference) => difference < 20)).toBe(true);
      expect(await page.evaluate(OVERFLOW)).toBe(0);
    });

    it('fits the width of its view, is scrolled to its last row there, and can be shown as a whole or at its own size', async () => {
      const page = await ui.open(`/ui/results/${id}`, { viewport });
      const canvas = page.locator('.canvas');
      const image = canvas.locator('img');
      await image.waitFor();
      const [wide, tall] = await canvas.evaluate((element) => [element.clientWidth, element.clientHeight]);
      await expect.poll(() => image.evaluate((element) => element.clientWidth)).toBe(Math.min(wide ?? 0, 1280));
      expect(tall).toBeLessThan(viewport.height);
      await expect.poll(() => shown(canvas, 4)).toEqual(HEADER);
      await canvas.evaluate((element) => element.scrollTo({ top: 1e9 }));
      await expect.poll(() => shown(canvas, -40)).toEqual(LAST_ROW);
      expect(await page.evaluate(OVERFLOW)).toBe(0);

      await page.getByText('Whole', { exact: true }).click();
      await expect.poll(() => image.evaluate((element) => element.clientHeight)).toBeLessThan(viewport.height);
      await page.getByText('1:1', { exact: true }).click();
      await expect.poll(() => image.evaluate(({ width, height }) => [width, height])).toEqual([1280, HEIGHT]);
      await canvas.evaluate((element) => element.scrollTo({ top: 100 }));
      await expect.poll(() => shown(canvas, 4)).toEqual(FIRST_ROW);
      expect(await page.evaluate(OVERFLOW)).toBe(0);
    });
  });
});
