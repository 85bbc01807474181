import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DetailedResultSchema } from '../../src/http/answer/schemas.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

describe('PDF captures', () => {
  const site = siteForSuite();
  const app = serviceForSuite();
  const post = (headers: Record<string, string> = {}) =>
    app.post('/screenshot', { url: site.url('/picture/sheets'), format: 'pdf' }, { headers });
  const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());

  it('serves the file with its media type, its ETag and in ranges', async () => {
    const response = await post();
    expect(response.status).toBe(200);
    const { data } = z.object({ data: DetailedResultSchema }).parse(await response.json());
    expect(data).toMatchObject({ format: 'pdf', width: 0, height: 0, truncated: false });
    const file = await app.call(data.screenshot);
    expect(file.headers.get('Content-Type')).toBe('application/pdf');
    const pdf = await bytes(file);
    expect(pdf.toString('latin1', 0, 5)).toBe('%PDF-');
    const etag = file.headers.get('ETag') ?? '';
    expect(etag).toBe(`"${createHash('sha256').update(pdf).digest('hex')}"`);
    expect((await app.call(data.screenshot, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const part = await app.call(data.screenshot, { headers: { Range: 'bytes=0-4' } });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe('%PDF-');
    const metadata = await app.call(data.screenshot, { headers: { Accept: 'application/json' } });
    expect(await metadata.json()).toMatchObject({ data: { format: 'pdf', bytes: pdf.byteLength } });
    const copy = await app.call(data.html);
    expect(await copy.text()).toContain('Sheet 3');
  });

  it('answers with the file when Accept is application/pdf, and with 406 when it is image/*', async () => {
    const response = await post({ Accept: 'application/pdf' });
    expect(response.headers.get('Content-Type')).toBe('application/pdf');
    expect((await bytes(response)).toString('latin1', 0, 5)).toBe('%PDF-');
    const other = await post({ Accept: 'image/*' });
    expect(other.status).toBe(406);
    expect(await other.json()).toMatchObject({ code: 'not_acceptable' });
  });

  it('prints chosen sheets on paper of an own size', async () => {
    const pdf = { width: 100, height: 150, pageRanges: '2-', footerTemplate: '<b class=pageNumber></b>' };
    const response = await app.post(
      '/screenshot',
      { url: site.url('/picture/sheets'), format: 'pdf', media: 'screen', pdf },
      { headers: { Accept: 'application/pdf' } },
    );
    const boxes = (await bytes(response)).toString('latin1').match(/\/MediaBox \[0 0 28[\d.]+ 42[\d.]+\]/g);
    expect(boxes).toHaveLength(2);
    const recorded = await app.call(`/results/${response.headers.get('X-Capture-Id')}`);
    expect(await recorded.json()).toMatchObject({ data: { options: { format: 'pdf', media: 'screen', pdf } } });
  });

  it('prints one long page', async () => {
    const body = { url: site.url('/tall?px=5000'), format: 'pdf', pdf: { singlePage: true } };
    const response = await app.post('/screenshot', body, { headers: { Accept: 'application/pdf' } });
    expect((await bytes(response)).toString('latin1').match(/\/MediaBox \[0 0 59\d[\d.]* 380\d[\d.]*\]/g)).toHaveLength(
      1,
    );
  });

  it.each([
    [{ pageRanges: '3-1' }, 'pdf.pageRanges'],
    [{ width: 10 }, 'pdf.width'],
    [{ singlePage: true, height: 100 }, 'pdf.singlePage'],
    [{ singlePage: true, preferCssPageSize: true }, 'pdf.singlePage'],
    [{ width: 60, margin: 30 }, 'pdf'],
    [{ headerTemplate: '' }, 'pdf.headerTemplate'],
  ])('answers 400 to %j and names the field', async (pdf, field) => {
    const response = await app.post('/screenshot', { url: site.url('/picture/sheets'), format: 'pdf', pdf });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`"path":"${field}"`);
  });
});
