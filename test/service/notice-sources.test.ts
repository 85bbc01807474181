import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { fitImage } from '../../src/imaging/fit-image.ts';
import { sayEvent } from '../../src/receivers/say-event.ts';
import { createNoticeSources } from '../../src/service/receivers/notice-sources.ts';
import { captureDirectory, RECORD_FILE } from '../../src/storage/files/layout.ts';
import { serviceForSuite } from '../support/for-suite.ts';

const running = serviceForSuite();
const LIMITS = { maxBytes: 100_000, maxSide: 1000 };

async function capture(colour: string): Promise<number> {
  const html = `<body style="margin:0"><div style="height:300px;background:${colour}"></div><p>Lamps`;
  const answer = await running.post('/screenshot', { html, fullPage: true }, { headers: { accept: 'image/png' } });
  await answer.arrayBuffer();
  return Number(answer.headers.get('x-capture-id'));
}

function sources() {
  const { artifacts, comparisons } = running.service;
  return createNoticeSources({ artifacts, comparisons, publicUrl: null, share: async () => null });
}

function changeOf(captures: { readonly capture: number; readonly before: number }): string {
  const run = { changed: [], share: null, regions: [], verdict: null, reason: null, ...captures };
  return JSON.stringify({ type: 'watch.changed', at: '2026-11-29T14:00:00.000Z', run });
}

describe('what notices are made of', () => {
  it('has the images of a change', async () => {
    const [before, after] = [await capture('red'), await capture('green')];
    const { images } = await sayEvent(changeOf({ capture: after, before }), sources());
    expect(images.map(({ name }) => name)).toEqual(['difference', 'after', 'before']);
    for (const { read } of images) {
      const image = await read(LIMITS);
      const { width, height } = await sharp(image?.bytes).metadata();
      expect(Math.max(width, height)).toBeLessThanOrEqual(LIMITS.maxSide);
      expect(image?.bytes.length).toBeLessThanOrEqual(LIMITS.maxBytes);
    }
  });

  it('has no image of a capture that was removed', async () => {
    const { images } = await sayEvent(changeOf({ capture: 999, before: 998 }), sources());
    expect(await Promise.all(images.map(({ read }) => read(LIMITS)))).toEqual([null, null, null]);
    expect(images.map(({ url }) => url)).toEqual([null, null, null]);
  });
});

describe('what notices of a damaged capture are made of', () => {
  it.each<[damaged: string, damage: (directory: string) => Promise<unknown>]>([
    ['its record', (directory) => writeFile(join(directory, RECORD_FILE), '{')],
    [
      'its image',
      async (directory) => {
        const image = (await readdir(directory)).find((name) => name.startsWith('image')) ?? '';
        await rm(join(directory, image));
        // It can be opened, but not read.
        await mkdir(join(directory, image));
      },
    ],
  ])('leaves out its image and the difference when %s cannot be read', async (_, damage) => {
    const [before, after] = [await capture('red'), await capture('green')];
    await damage(captureDirectory(join(running.directory, 'data'), before));
    const { images } = await sayEvent(changeOf({ capture: after, before }), sources());
    const read: unknown[] = [];
    for (const image of images) read.push((await image.read(LIMITS))?.mediaType ?? null);
    expect(read).toEqual([null, expect.stringContaining('image/'), null]);
  });
});

describe('an image within limits', () => {
  const noise = (width: number, height: number) =>
    sharp({
      create: { width, height, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
    });

  it('stays as it is when it fits', async () => {
    const image = await noise(50, 50).png().toBuffer();
    expect(await fitImage(image, LIMITS)).toEqual({ bytes: image, mediaType: 'image/png' });
  });

  it('is made smaller until it fits', async () => {
    const fitted = await fitImage(await noise(600, 1200).png().toBuffer(), LIMITS);
    expect(fitted?.bytes.length).toBeLessThanOrEqual(LIMITS.maxBytes);
    const { width, height, format } = await sharp(fitted?.bytes).metadata();
    expect(format).toBe('jpeg');
    expect(height / width).toBeCloseTo(2, 1);
  });

  it('is none when it does not fit however small, or is no image', async () => {
    const image = await noise(500, 500).png().toBuffer();
    expect(await fitImage(image, { maxBytes: 50, maxSide: 1000 })).toBeNull();
    expect(await fitImage(Buffer.from('no image'), LIMITS)).toBeNull();
  });
});
