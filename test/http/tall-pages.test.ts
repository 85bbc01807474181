import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const Captured = z.object({ data: z.object({ id: z.int(), height: z.int(), truncated_by: z.string() }) });

describe('tall pages over HTTP', () => {
  const site = siteForSuite();
  const app = serviceForSuite();

  it.each([
    ['webp', 'format'],
    ['png', null],
  ])('names in a header why a %s of 20,000 px is incomplete: %s', async (format, cause) => {
    const options = { url: site.url('/tall?px=20000'), fullPage: true, format };
    const response = await app.post('/screenshot', options, { headers: { Accept: 'image/*' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('X-Capture-Truncated')).toBe(cause);
    await response.arrayBuffer();
  });

  it('makes a thumbnail of a page of 100,000 px', async () => {
    const options = { url: site.url('/tall?px=100000'), fullPage: true, timeoutMs: 60_000 };
    const { data } = Captured.parse(await (await app.post('/screenshot', options)).json());
    expect(data).toMatchObject({ height: 100_000, truncated_by: '' });
    const thumbnail = await app.call(`/screenshot/${data.id}?width=320&height=200`);
    expect(thumbnail.status).toBe(200);
    expect(await sharp(await thumbnail.arrayBuffer()).metadata()).toMatchObject({ width: 320, height: 200 });
  }, 90_000);
});
