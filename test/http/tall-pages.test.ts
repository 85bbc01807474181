import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capstan } from '../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { sharedMongo, whyNoMongo } from '../support/mongo.ts';
import { type RunningService, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const Captured = z.object({ data: z.object({ id: z.int(), height: z.int(), truncated_by: z.string() }) });
const LONG_MS = 90_000;

const missing = await whyNoMongo();

describe('tall pages over HTTP', () => {
  const site = siteForSuite();
  const app = serviceForSuite();

  const capture = async (service: RunningService, px: number, options: object = {}) => {
    const body = { url: site.url(`/tall?px=${px}`), fullPage: true, timeoutMs: 60_000, ...options };
    return Captured.parse(await (await service.post('/screenshot', body)).json()).data;
  };
  /** Reads the whole image in two ranges, and its size. */
  const inRanges = async (service: RunningService, id: number) => {
    const read = async (range: string) => {
      const part = await service.call(`/screenshot/${id}`, { headers: { Range: `bytes=${range}` } });
      expect(part.status).toBe(206);
      return Buffer.from(await part.arrayBuffer());
    };
    const image = Buffer.concat([await read('0-99999'), await read('100000-')]);
    const { width, height } = await sharp(image, { limitInputPixels: false }).metadata();
    return { image, size: [width, height] };
  };

  it.each([
    ['webp', 'format'],
    ['png', null],
  ])('names in a header why a %s of 20,000 px is incomplete: %s', async (format, cause) => {
    const options = { url: site.url('/tall?px=20000'), fullPage: true, format, timeoutMs: 60_000 };
    const response = await app.post('/screenshot', options, { headers: { Accept: 'image/*' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('X-Capture-Truncated')).toBe(cause);
    await response.arrayBuffer();
  });

  it(
    'makes thumbnails of a page of 100,000 px, exports it, and serves it in ranges',
    async () => {
      const data = await capture(app, 100_000);
      expect(data).toMatchObject({ height: 100_000, truncated_by: '' });
      const thumbnailOf = async (size: string) => {
        const thumbnail = await app.call(`/screenshot/${data.id}?${size}`);
        expect(thumbnail.status).toBe(200);
        return sharp(await thumbnail.arrayBuffer()).metadata();
      };
      expect(await thumbnailOf('width=320&height=200')).toMatchObject({ width: 320, height: 200 });
      // A WebP has at most 16,383 rows.
      expect(await thumbnailOf('width=640')).toMatchObject({ format: 'webp', width: 210, height: 16_383 });
      const { image, size } = await inRanges(app, data.id);
      expect(size).toEqual([1280, 100_000]);
      const whole = await app.call(`/screenshot/${data.id}`);
      expect(Buffer.from(await whole.arrayBuffer()).equals(image)).toBe(true);

      const folder = join(await makeDirectory(), 'exported');
      const places = ['--db-path', join(app.directory, 'results.db'), '--data-dir', join(app.directory, 'data')];
      expect(await capstan(['export', '--html', folder, ...places])).toMatchObject({ code: 0 });
      const [thumbnail = ''] = (await readdir(join(folder, 'thumbnails'))).filter((name) =>
        name.includes(`${data.id}`),
      );
      const exported = await sharp(await readFile(join(folder, 'thumbnails', thumbnail))).metadata();
      expect(exported.height).toBeGreaterThan(0);
    },
    LONG_MS,
  );

  it(
    'captures tall pages in a batch, and resizes them',
    async () => {
      const lines = [30_000, 40_000].map((px) => {
        const url = site.url(`/tall?px=${px}`);
        return JSON.stringify({
          url,
          fullPage: true,
          timeoutMs: 60_000,
          ...(px === 40_000 ? { resize: { width: 320 } } : {}),
        });
      });
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const answer = await app.call('/batch?concurrency=2', { method: 'POST', headers, body: lines.join('\n') });
      const outcomes = (await answer.text()).trim().split('\n');
      const Outcome = z.object({ result: Captured.shape.data.extend({ width: z.int() }) });
      const sizes = await Promise.all(
        outcomes.map(async (line) => {
          const { id, width, height, truncated_by } = Outcome.parse(JSON.parse(line)).result;
          const image = await app.call(`/screenshot/${id}`);
          const stored = await sharp(await image.arrayBuffer(), { limitInputPixels: false }).metadata();
          expect([stored.width, stored.height, truncated_by]).toEqual([width, height, '']);
          return `${width} x ${height}`;
        }),
      );
      expect(sizes.sort()).toEqual(['1280 x 30000', '320 x 10000']);
    },
    LONG_MS,
  );

  it.skipIf(missing !== undefined)(
    `stores tall pages in GridFS${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    async () => {
      const mongoUrl = `${await sharedMongo()}tall`;
      const service = await startService({ dbPath: null, mongoUrl, artifacts: 'gridfs' });
      try {
        const { id } = await capture(service, 60_000);
        expect((await inRanges(service, id)).size).toEqual([1280, 60_000]);
        const thumbnail = await service.call(`/screenshot/${id}?width=320&height=200`);
        expect(await sharp(await thumbnail.arrayBuffer()).metadata()).toMatchObject({ width: 320, height: 200 });
      } finally {
        await service.stop();
      }
    },
    2 * LONG_MS,
  );
});
