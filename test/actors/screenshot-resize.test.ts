import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { colourAt, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

/** Halves a tall page. */
const HALVED: CaptureOptions = {
  fullPage: true,
  format: 'webp',
  viewport: { width: 320, height: 4_000 },
  resize: { width: 160 },
};

describe.concurrent('resize', () => {
  const ground = siteAndActor();

  const capture = (options: CaptureOptions, path = '/picture/parts') => ground.capture(path, options);

  it.each<[CaptureOptions, number, number]>([
    [{ resize: { width: 320 } }, 320, 180],
    [{ resize: { height: 360 } }, 640, 360],
    [{ resize: { width: 320, height: 90 } }, 160, 90],
    [{ resize: { width: 320, height: 5000 } }, 320, 180],
    [{ resize: { width: 4000 } }, 1280, 720],
    [{ resize: { width: 320 }, format: 'jpeg', quality: 50 }, 320, 180],
    [{ resize: { width: 320 }, format: 'webp' }, 320, 180],
    [{ resize: { width: 100 }, selector: '#red' }, 100, 50],
    [{ resize: { width: 640 }, device: 'iPhone 15', viewport: { height: 393 } }, 640, 640],
  ])('fits the image within the given sides and never enlarges it: %j', async (options, width, height) => {
    const snapshot = await capture(options);
    expect(snapshot).toMatchObject({ width, height, truncated: false, cutPhase: null });
    const { format = 'png' } = options;
    expect(await sharp(snapshot.image).metadata()).toMatchObject({ format, width, height });
  });

  it('shows the same in fewer pixels', async () => {
    const png = await pngOf(await capture({ selector: '#red', resize: { width: 20 } }));
    expect([png.width, png.height]).toEqual([20, 10]);
    expect(countOf(png, [200, 0, 0, 255])).toBe(200);
  });

  it('keeps a transparent background', async () => {
    const png = await pngOf(await capture({ omitBackground: true, resize: { width: 640 } }));
    expect(colourAt(png, 2, 2)).toEqual([0, 0, 0, 0]);
  });

  it('resizes a whole page that the format could not hold, and gives its height in pixels of the image', async () => {
    const snapshot = await capture(HALVED, '/tall?px=30000');
    expect(snapshot).toMatchObject({ width: 160, height: 15_000, fullHeight: 15_000, truncated: false });
    expect(await sharp(snapshot.image).metadata()).toMatchObject({ format: 'webp', width: 160, height: 15_000 });
  });

  it('ends the image at the last row of the format, and says so', async () => {
    const snapshot = await capture(HALVED, '/tall?px=40000');
    expect(snapshot).toMatchObject({ width: 160, height: 16_383, fullHeight: 20_000, truncatedBy: 'format' });
    expect(await sharp(snapshot.image).metadata()).toMatchObject({ width: 160, height: 16_383 });
  });

  it('gives the height of a truncated page in pixels of the image', async () => {
    const snapshot = await capture({ fullPage: true, maxHeight: 1000, resize: { width: 640 } }, '/tall?px=2000');
    expect(snapshot).toMatchObject({ width: 640, height: 500, fullHeight: 1000, truncatedBy: 'maxHeight' });
  });
});
