import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { putCapture } from '../storage/put-capture.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { pixelsOf } from '../support/image.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { resultOf } from './stored-capture.ts';

const WIDE = 1;
const TALL = 2;
const PDF = 3;
const SMALL = 4;
const BROKEN = 5;
const SIDEWAYS = 6;
const NOISE = 7;
const HIGH = 8;

const app = serviceForSuite(NO_BROWSER);

beforeAll(async () => {
  // Red above, blue below.
  await keepImage(WIDE, await halves(1280, 720));
  // Noise: a PNG that takes time to decode.
  await keepImage(TALL, await noise(1280, 8_192));
  // A smaller image than its record says, which takes less time.
  const result = resultOf(HIGH, { width: 1280, height: 16_383 });
  await putCapture(app.service.artifacts, result, { image: await halves(400, 800), html: '' });
  await keepImage(NOISE, await noise(320, 200));
  await keepImage(SMALL, await halves(200, 100));
  // Red on the left, blue on the right.
  await keepImage(
    SIDEWAYS,
    await sharp(await halves(400, 800))
      .rotate(270)
      .png()
      .toBuffer(),
  );
  await keepImage(BROKEN, Buffer.from('not an image'));
  await putCapture(app.service.artifacts, resultOf(PDF, { format: 'pdf' }), { image: Buffer.from('%PDF-'), html: '' });
});

async function keepImage(id: number, image: Buffer, to: RunningService = app): Promise<void> {
  await putCapture(to.service.artifacts, resultOf(id), { image, html: '' });
}

function halves(width: number, height: number): Promise<Buffer> {
  const blue = { create: { width, height: height / 2, channels: 3, background: 'blue' } } as const;
  return sharp({ create: { width, height, channels: 3, background: 'red' } })
    .composite([{ input: blue, gravity: 'south' }])
    .png()
    .toBuffer();
}

function noise(width: number, height: number): Promise<Buffer> {
  const create = {
    width,
    height,
    channels: 3,
    background: 'white',
    noise: { type: 'gaussian', mean: 128, sigma: 40 },
  } as const;
  return sharp({ create }).png({ compressionLevel: 1 }).toBuffer();
}

async function imageOf(path: string, to: RunningService = app) {
  const response = await to.call(path);
  expect(response.status, path).toBe(200);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const thumbnailFiles = async (id: number, to: RunningService = app): Promise<readonly string[]> =>
  (await readdir(join(to.directory, 'data/thumbnails', String(id))).catch(() => [])).toSorted();

describe('GET /screenshot/:id with width, height, format or quality', () => {
  it.each([
    ['?width=320', 'webp', 320, 180],
    ['?height=72', 'webp', 128, 72],
    ['?width=100&height=100', 'webp', 100, 100],
    ['?width=320&format=png', 'png', 320, 180],
    ['?width=320&format=jpeg&quality=40', 'jpeg', 320, 180],
    ['?width=320&format=jpg', 'jpeg', 320, 180],
    ['?width=320&format=avif', 'heif', 320, 180],
    ['?format=webp', 'webp', 1280, 720],
    ['?width=2048', 'webp', 1280, 720],
    ['?view=image&width=320', 'webp', 320, 180],
  ])('answers %s with a thumbnail of that format and size', async (query, format, width, height) => {
    const { response, bytes } = await imageOf(`/screenshot/${WIDE}${query}`);
    expect(await sharp(bytes).metadata()).toMatchObject({ format, width, height });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': `image/${format === 'heif' ? 'avif' : format}`,
      'content-length': String(bytes.byteLength),
      'cache-control': expect.stringMatching(/^private, .*immutable/),
      'x-capture-id': String(WIDE),
      etag: expect.stringMatching(/^"[^"]+"$/),
    });
  });

  it('scales down a thumbnail that has too many pixels for its format, and names it by its size', async () => {
    const { response, bytes } = await imageOf(`/screenshot/${HIGH}?width=1024&format=avif`);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 350 });
    expect(response.headers.get('etag')).toContain('-350x-q80.avif"');
    expect(await thumbnailFiles(HIGH)).toEqual(['350x-q80.avif']);
  });

  it('does not enlarge a small image', async () => {
    const { bytes } = await imageOf(`/screenshot/${SMALL}?width=320`);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 200, height: 100 });
  });

  it('shows the upper part of a taller image when width and height are given', async () => {
    const { bytes } = await imageOf(`/screenshot/${WIDE}?width=256&height=60&format=png`);
    const { data } = await pixelsOf(bytes);
    expect([...data.subarray(0, 3)]).toEqual([255, 0, 0]);
    expect([...data.subarray(-4, -1)]).toEqual([255, 0, 0]);
  });

  it('shows the left part of a wider image when width and height are given', async () => {
    const { bytes } = await imageOf(`/screenshot/${SIDEWAYS}?width=100&height=200&format=png`);
    const { data } = await pixelsOf(bytes);
    expect([...data.subarray(0, 3)]).toEqual([255, 0, 0]);
    expect([...data.subarray(-4, -1)]).toEqual([255, 0, 0]);
  });

  it('makes smaller files with a lower quality', async () => {
    const length = async (quality: number) =>
      (await imageOf(`/screenshot/${NOISE}?quality=${quality}`)).bytes.byteLength;
    expect(await length(20)).toBeLessThan(await length(90));
  });

  it('answers 304 without making a thumbnail when the client already has it', async () => {
    const path = `/screenshot/${WIDE}?width=321`;
    const etag = (await app.call(path, { method: 'HEAD' })).headers.get('ETag') ?? '';
    await rm(join(app.directory, 'data/thumbnails', String(WIDE)), { recursive: true });
    const response = await app.call(path, { headers: { 'If-None-Match': etag } });
    expect(response.status).toBe(304);
    expect(response.headers.get('ETag')).toBe(etag);
    expect(await thumbnailFiles(WIDE)).toEqual([]);
  });

  it('sends a different ETag for each thumbnail and for the image', async () => {
    const queries = ['', '?width=320', '?width=320&quality=70', '?width=320&format=png', '?height=320'];
    const etags = queries.map(async (query) =>
      (await app.call(`/screenshot/${WIDE}${query}`, { method: 'HEAD' })).headers.get('ETag'),
    );
    expect(new Set(await Promise.all(etags)).size).toBe(queries.length);
  });

  it('still answers range requests for the image', async () => {
    const range = { headers: { Range: 'bytes=0-7' } };
    const part = await app.call(`/screenshot/${WIDE}`, range);
    expect(part.status).toBe(206);
    expect((await app.call(`/screenshot/${WIDE}?width=320`, range)).status).toBe(200);
  });

  it.each([
    ['width=0', 'width', 'must be an integer of pixels from 1 to 2048'],
    ['width=2049', 'width', 'must be an integer of pixels from 1 to 2048'],
    ['width=x', 'width', 'must be an integer of pixels from 1 to 2048'],
    ['height=1.5', 'height', 'must be an integer of pixels from 1 to 2048'],
    ['format=gif', 'format', 'must be webp, png, jpeg or avif'],
    ['quality=101', 'quality', 'must be an integer from 1 to 100'],
    ['width=320&view=html', 'view', 'must be image, or be left out'],
    ['width=320&view=metadata', 'view', 'must be image, or be left out'],
  ])('answers 400 to %s and names the field', async (query, path, message) => {
    const response = await app.call(`/screenshot/${WIDE}?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      data: { problems: [{ path, message: expect.stringContaining(message) }] },
    });
  });

  it('answers 422 for a PDF', async () => {
    const response = await app.call(`/screenshot/${PDF}?width=320`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'not_an_image', error: expect.stringContaining('is a PDF') });
  });

  it('answers 500 for a damaged image, and 404 for an unknown id', async () => {
    expect((await app.call(`/screenshot/${BROKEN}?width=320`)).status).toBe(500);
    expect((await app.call('/screenshot/99?width=320')).status).toBe(404);
  });
});

describe('thumbnails of a screenshot 8192 pixels high', () => {
  it('answers other requests while it makes the thumbnails', async () => {
    let isMade = false;
    const thumbnail = imageOf(`/screenshot/${TALL}?width=320`).then((made) => {
      isMade = true;
      return made;
    });
    // Each of these needs several turns of the event loop.
    for (let request = 0; request < 5; request += 1) expect((await app.call('/livez')).status).toBe(200);
    expect(isMade).toBe(false);
    expect(await sharp((await thumbnail).bytes).metadata()).toMatchObject({ width: 320, height: 2048 });
  });
});

describe('the cache of thumbnails', () => {
  it('answers from the stored file', async () => {
    await imageOf(`/screenshot/${WIDE}?width=50`);
    const file = join(app.directory, 'data/thumbnails', String(WIDE), '50x-q80.webp');
    await writeFile(file, 'from the cache');
    expect((await imageOf(`/screenshot/${WIDE}?width=50`)).bytes.toString()).toBe('from the cache');
  });

  it('makes a thumbnail anew when its file is empty or gone', async () => {
    const { bytes } = await imageOf(`/screenshot/${WIDE}?width=51`);
    const file = join(app.directory, 'data/thumbnails', String(WIDE), '51x-q80.webp');
    await writeFile(file, '');
    expect((await imageOf(`/screenshot/${WIDE}?width=51`)).bytes).toEqual(bytes);
    await rm(file);
    expect((await imageOf(`/screenshot/${WIDE}?width=51`)).bytes).toEqual(bytes);
  });

  it('removes the thumbnails of a capture with it', async () => {
    await keepImage(41, await halves(64, 64));
    await imageOf('/screenshot/41?width=32');
    expect(await thumbnailFiles(41)).toHaveLength(1);
    expect((await app.call('/screenshot/41', { method: 'DELETE' })).status).toBe(200);
    expect(await thumbnailFiles(41)).toEqual([]);
    expect((await app.call('/screenshot/41?width=32')).status).toBe(404);
  });

  it('removes the least recently used thumbnails above the size limit', async () => {
    const { bytes } = await imageOf(`/screenshot/${WIDE}?width=320&format=png`);
    // Room for three thumbnails, because all have about the same size.
    const small = await startService({ ...NO_BROWSER, thumbnailBytes: bytes.byteLength * 3.5 });
    try {
      const image = await halves(1280, 720);
      for (const id of [1, 2, 3, 4]) await keepImage(id, image, small);
      const use = (id: number) => imageOf(`/screenshot/${id}?width=320&format=png`, small);
      for (const id of [1, 2, 3, 1, 4]) await use(id);
      await expect.poll(() => thumbnailFiles(2, small)).toEqual([]);
      for (const id of [1, 3, 4]) expect(await thumbnailFiles(id, small)).toEqual(['320x.png']);
    } finally {
      await small.stop();
    }
  });
});
