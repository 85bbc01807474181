import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { optionFields } from '../../src/capture/options/groups.ts';
import { captureQuery } from '../../src/http/request/capture-query.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';
import { failureOf } from './answers.ts';

const site = siteForSuite();
const app = serviceForSuite({}, { corsOrigins: ['https://listed.example'] });

const page = () => `/screenshot?url=${encodeURIComponent(site.url('/short'))}`;
const Digested = z.object({ data: z.object({ options_digest: z.string() }) });

async function digestOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  const id = response.headers.get('X-Capture-Id') ?? '';
  return Digested.parse(await (await app.call(`/results/${id}`)).json()).data.options_digest;
}

describe('GET /screenshot', () => {
  it('captures a page and answers with its image, which caches do not keep', async () => {
    const response = await app.call(page());
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'no-store',
      location: `/screenshot/${response.headers.get('X-Capture-Id')}`,
      etag: expect.stringMatching(/^"/),
    });
    const image = await app.call(response.headers.get('Location') ?? '', { headers: { Accept: 'image/*' } });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(await image.arrayBuffer()));
  });

  it('answers with an earlier capture within cacheMaxAgeMs, which is also the max-age for caches', async () => {
    const made = await app.call(`${page()}&cacheMaxAgeMs=3600000&format=jpeg&quality=77`);
    const again = await app.call(`${page()}&cacheMaxAgeMs=3600000&format=jpeg&quality=77`);
    expect([made.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('X-Capture-Id')).toBe(made.headers.get('X-Capture-Id'));
    expect(again.headers.get('X-Capture-Cached')).toBe('true');
    expect(again.headers.get('Cache-Control')).toBe('private, max-age=3600');
  });

  it.each([
    ['&fullPage', { fullPage: true }],
    [
      '&fullPage=true&format=jpg&quality=40&evidence=all&waitUntil=load&timeoutMs=90000',
      { fullPage: true, format: 'jpeg', quality: 40, evidence: 'all', waitUntil: 'load', timeoutMs: 90_000 },
    ],
    [
      '&fullPage=false&viewport=width=300,height=200&hide=h1,%20h2&hide=p',
      { viewport: { width: 300, height: 200 }, hide: ['h1, h2', 'p'] },
    ],
    [
      '&viewport.width=300&viewport.height=200&actions={"type":"wait","ms":1}',
      { viewport: { width: 300, height: 200 }, actions: [{ type: 'wait', ms: 1 }] },
    ],
    [
      '&viewport.width=300&clip.x=0&clip.y=0&clip.width=20&clip.height=30',
      { viewport: { width: 300, height: 720 }, clip: { x: 0, y: 0, width: 20, height: 30 } },
    ],
    ['&viewport={"width":300,"height":200}', { viewport: { width: 300, height: 200 } }],
  ])('reads %s like the equivalent body of POST', async (query, body) => {
    const posted = await app.post(
      '/screenshot',
      { url: site.url('/short'), ...body },
      { headers: { Accept: 'image/*' } },
    );
    expect(await digestOf(await app.call(page() + query))).toBe(await digestOf(posted));
  });

  it('answers with the image scaled down to fit, and records its size', async () => {
    const response = await app.call(`${page()}&format=webp&resize.width=320`);
    expect(response.headers.get('Content-Type')).toBe('image/webp');
    const image = await sharp(await response.arrayBuffer()).metadata();
    expect(image).toMatchObject({ format: 'webp', width: 320, height: 180 });
    const recorded = await (await app.call(`/results/${response.headers.get('X-Capture-Id')}`)).json();
    const data = { width: 320, height: 180, format: 'webp', options: { resize: { width: 320 } } };
    expect(recorded).toMatchObject({ data });
  });

  it('sends the headers given in the query to the page', async () => {
    expect((await app.call(`${page()}&headers=X-Trace:%20a,b&headers=X-Other=1`)).status).toBe(200);
    const { headers } = site.requests.findLast(({ url }) => url === '/short') ?? {};
    expect(headers).toMatchObject({ 'x-trace': 'a,b', 'x-other': '1' });
  });

  it('offers a parameter for each option of POST', () => {
    expect(Object.keys(captureQuery)).toEqual(
      expect.arrayContaining(['url', 'timeoutMs', 'callback', ...Object.keys(optionFields), 'viewport.width']),
    );
  });

  it.each([
    ['/screenshot', 'url'],
    ['/screenshot?url=x.example&quality=101', 'quality'],
    ['/screenshot?url=x.example&quality=high', 'quality'],
    ['/screenshot?url=x.example&fullPage=yes', 'fullPage'],
    ['/screenshot?url=x.example&viewport=300', 'viewport'],
    ['/screenshot?url=x.example&viewport.width=0&viewport.height=1', 'viewport.width'],
    ['/screenshot?url=x.example&actions={', 'actions'],
    ['/screenshot?url=x.example&full_page=true', 'full_page'],
    ['/screenshot?url=x.example&format=png&format=webp', 'format'],
  ])('answers 400 to %s and names the field', async (path, field) => {
    const response = await app.call(path);
    expect(response.status).toBe(400);
    expect((await failureOf(response)).data?.problems?.map(({ path: named }) => named)).toContain(field);
  });

  it('answers with the status of a failed capture', async () => {
    const response = await app.call(`/screenshot?url=http://127.0.0.1:${await freePort()}/`);
    expect(response.status).toBe(502);
    expect(await failureOf(response)).toMatchObject({ code: 'target_unreachable' });
  });

  it('refuses requests from pages of other origins unless their origin is listed', async () => {
    const from = (site: string, origin?: string) =>
      app.call(page(), { headers: { 'Sec-Fetch-Site': site, ...(origin === undefined ? {} : { Origin: origin }) } });
    const sites = [
      await from('cross-site'),
      await from('same-site'),
      await from('cross-site', 'https://other.example'),
    ];
    for (const refused of sites) {
      expect(refused.status).toBe(403);
      expect(await failureOf(refused)).toMatchObject({ code: 'link_refused' });
    }
    expect((await from('same-origin')).status).toBe(200);
    expect((await from('none')).status).toBe(200);
    expect((await from('cross-site', 'https://listed.example')).status).toBe(200);
  });
});
