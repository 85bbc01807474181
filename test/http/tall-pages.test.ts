import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capstan } from '../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { inRanges } from './in-ranges.ts';

const Captured = z.object({ data: z.object({ id: z.int(), height: z.int(), truncated_by: z.string() }) });
/** Options of each capture. The windows are narrow and high: it is the height of the page that is tested. */
const TALL = { fullPage: true, viewport: { width: 320, height: 4_000 }, timeoutMs: 60_000 };

describe('tall pages over HTTP', () => {
  const site = siteForSuite();
  const app = serviceForSuite();

  it.each([
    ['webp', 'format'],
    ['png', null],
  ])('names in a header why a %s of 20,000 px is incomplete: %s', async (format, cause) => {
    const options = { ...TALL, url: site.url('/tall?px=20000'), format };
    const response = await app.post('/screenshot', options, { headers: { Accept: 'image/*' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('X-Capture-Truncated')).toBe(cause);
    await response.arrayBuffer();
  });

  it('makes thumbnails of a page of 100,000 px, exports it, and serves it in ranges', async () => {
    const answer = await app.post('/screenshot', { ...TALL, url: site.url('/tall?px=100000') });
    const { data } = Captured.parse(await answer.json());
    expect(data).toMatchObject({ height: 100_000, truncated_by: '' });
    const thumbnailOf = async (size: string) => {
      const thumbnail = await app.call(`/screenshot/${data.id}?${size}`);
      expect(thumbnail.status).toBe(200);
      return sharp(await thumbnail.arrayBuffer()).metadata();
    };
    expect(await thumbnailOf('width=320&height=200')).toMatchObject({ width: 320, height: 200 });
    // A WebP has at most 16,383 rows.
    expect(await thumbnailOf('width=160')).toMatchObject({ format: 'webp', width: 52, height: 16_383 });
    const { image, size } = await inRanges((init) => app.call(`/screenshot/${data.id}`, init));
    expect(size).toEqual([320, 100_000]);
    const whole = await app.call(`/screenshot/${data.id}`);
    expect(Buffer.from(await whole.arrayBuffer()).equals(image)).toBe(true);

    const folder = join(await makeDirectory(), 'exported');
    const places = ['--db-path', join(app.directory, 'results.db'), '--data-dir', join(app.directory, 'data')];
    expect(await capstan(['export', '--html', folder, ...places])).toMatchObject({ code: 0 });
    const [thumbnail = ''] = (await readdir(join(folder, 'thumbnails'))).filter((name) => name.includes(`${data.id}`));
    const exported = await sharp(await readFile(join(folder, 'thumbnails', thumbnail))).metadata();
    expect(exported.height).toBeGreaterThan(0);
  });

  it('captures tall pages in a batch, and resizes them', async () => {
    const resize = { width: 80 };
    const requests = [
      { ...TALL, url: site.url('/tall?px=20000') },
      { ...TALL, url: site.url('/tall?px=40000'), resize },
    ];
    const body = requests.map((request) => JSON.stringify(request)).join('\n');
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const answer = await app.call('/batch?concurrency=2', { method: 'POST', headers, body });
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
    expect(sizes.sort()).toEqual(['320 x 20000', '80 x 10000']);
  });
});
