import sharp from 'sharp';
import { expect, it } from 'vitest';
import { joinImages } from '../../src/page/screenshot/encode-image.ts';
import { type Colour, colourAt, pixelsOf } from '../support/image.ts';

const RED: Colour = [200, 0, 0, 255];
const COLOURS: readonly Colour[] = [RED, [0, 200, 0, 255], [0, 0, 200, 255]];

it.each([
  { heights: [10, 10, 10] },
  { heights: [10, 10, 4] },
  { heights: [10, 10, 40] },
  { heights: [10, 20, 10] },
  { heights: [10, 40] },
])('joins images of $heights rows below each other', async ({ heights }) => {
  const images = heights.map((height, at) => {
    const [r, g, b] = COLOURS[at] ?? RED;
    return sharp({ create: { width: 4, height, channels: 3, background: { r, g, b } } })
      .png()
      .toBuffer();
  });
  const rows = heights.flatMap((height, at) => Array.from({ length: height }, () => COLOURS[at]));
  const tops = heights.map((_, at) => heights.slice(0, at).reduce((sum, each) => sum + each, 0));
  const size = { width: 4, height: rows.length, tops };
  const encoding = { format: 'png', quality: 80, isTransparent: false } as const;
  const joined = await pixelsOf(await joinImages(await Promise.all(images), size, encoding));
  expect(rows.map((_, y) => colourAt(joined, 2, y))).toEqual(rows);
  expect(joined.height).toBe(rows.length);
});
