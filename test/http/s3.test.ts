import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { clientOf, describeWithS3, s3Options } from '../support/s3.ts';
import { NO_BROWSER, startService } from '../support/service.ts';
import { describeRemoval } from './removed-captures.ts';
import { keepCapture } from './stored-capture.ts';
import { describeStoredImages } from './stored-images.ts';

describeWithS3('captures in an object store over HTTP', (server) => {
  const s3 = (name: string) => ({ ...NO_BROWSER, ...s3Options(server, 'captures'), s3Prefix: name });

  beforeAll(async () => {
    (await clientOf(server, 'captures')).close();
  });

  describeStoredImages(s3);
  describeRemoval(() => s3('removal'));

  describe('whose store goes away between finding a file and reading it', () => {
    let proxy: FaultProxy;
    beforeAll(async () => {
      proxy = await startFaultProxy(() => server.endpoint);
      return () => proxy[Symbol.asyncDispose]();
    });

    const app = serviceForSuite(() => ({ ...s3('away'), s3Endpoint: proxy.endpoint }));

    it.each([
      ['an image', '', {}],
      ['a part of an image', '', { Range: 'bytes=1-3' }],
      ['a text', '?view=html', {}],
    ])('answers a request for %s with 503 that no cache keeps', async (what, query, headers) => {
      const id = 3001 + what.length;
      const { result } = await keepCapture(app.service, id);
      await app.service.results.insert(result);
      await expect.poll(() => app.service.stats().store.outbox).toBe(0);
      // An image is read after a HEAD; a text is in the object of its capture.
      const pattern = query === '' ? /^GET .*image\.png/ : /^GET .*\/capture$/;
      proxy.fault = (line) => (pattern.test(line) ? 'reset' : undefined);
      const answer = await app.call(`/screenshot/${id}${query}`, { headers });
      proxy.fault = () => undefined;
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'artifacts_unavailable' }]);
      expect([answer.headers.get('Cache-Control'), answer.headers.get('ETag')]).toEqual(['no-store', null]);
      expect(answer.headers.has('Retry-After')).toBe(true);
      expect((await app.call(`/screenshot/${id}${query}`, { headers })).ok).toBe(true);
    });
  });

  it('answers 503 for a capture in the object store while a service that keeps new ones in files cannot reach it', async () => {
    await using proxy = await startFaultProxy(() => server.endpoint);
    const stores = { ...s3('moving'), s3Endpoint: proxy.endpoint };
    const before = await startService(stores);
    const { result } = await keepCapture(before.service, 5001);
    await before.service.results.insert(result);
    await expect.poll(() => before.service.stats().store.outbox).toBe(0);
    await before.stop();
    const places = { dbPath: join(before.directory, 'results.db'), dataDir: join(before.directory, 'data') };
    const after = await startService({ ...stores, ...places, artifacts: 'files' });
    try {
      expect((await after.call('/screenshot/5001')).status).toBe(200);
      proxy.fault = () => 'reset';
      const answer = await after.call('/screenshot/5001');
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'artifacts_unavailable' }]);
    } finally {
      await after.stop();
    }
  });

  describe('with --s3-presign', () => {
    const app = serviceForSuite(() => ({ ...s3('presigned'), s3Presign: 300 }));

    beforeAll(async () => {
      await keepCapture(app.service, 1001);
    });

    const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      app.call(path, { redirect: 'manual', method, headers });

    it('redirects to the image in the object store, with its type and name', async () => {
      const answer = await get('/screenshot/1001');
      expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([302, 'no-store']);
      const image = await fetch(answer.headers.get('Location') ?? '', { headers: { Range: 'bytes=1-3' } });
      expect([image.status, await image.text()]).toEqual([206, 'ict']);
      expect(image.headers.get('Content-Type')).toBe('image/png');
      expect(image.headers.get('Content-Disposition')).toBe('inline; filename="image-1001.png"');
    });

    it('sends texts of the page itself, under its own policy', async () => {
      const html = await get('/screenshot/1001?view=html');
      expect(html.status).toBe(200);
      expect(html.headers.get('Content-Security-Policy')).toMatch(/^sandbox/);
    });

    it('sends images to its own web pages, to HEAD, and in small, itself', async () => {
      const own = await get('/screenshot/1001', { 'Sec-Fetch-Site': 'same-origin' });
      expect([own.status, own.headers.get('Content-Type')]).toEqual([200, 'image/png']);
      expect((await get('/screenshot/1001', {}, 'HEAD')).status).toBe(200);
      const etag = own.headers.get('ETag') ?? '';
      expect((await get('/screenshot/1001', { 'If-None-Match': etag })).status).toBe(304);
    });
  });

  describe('with --isolate-keys', () => {
    const key = (name: string) => ({ name, key: `${name}-key`, rate: null, scope: 'capture' }) as const;
    const isolated = { apiKey: ['shop-key', 'news-key'], namedKeys: [key('shop'), key('news')], isolateKeys: true };
    const app = serviceForSuite(() => ({ ...s3('isolated'), s3Presign: 300 }), isolated);

    beforeAll(async () => {
      for (const [id, name] of [2001, 2002].entries()) {
        const { result } = await keepCapture(app.service, name, { api_key_name: id === 0 ? 'shop' : 'news' });
        await app.service.results.insert(result);
      }
    });

    const ask = (name: string, path: string, method = 'GET') =>
      app.call(path, { method, redirect: 'manual', headers: { 'X-API-Key': `${name}-key` } });

    it('gives a key the URLs and files of its own captures alone, and lets it remove no others', async () => {
      const statusesOf = async (name: string, id: number) => [
        (await ask(name, `/screenshot/${id}`)).status,
        (await ask(name, `/screenshot/${id}?view=html`)).status,
      ];
      expect(await statusesOf('shop', 2001)).toEqual([302, 200]);
      expect(await statusesOf('news', 2001)).toEqual([404, 404]);
      expect((await ask('news', '/screenshot/2001', 'DELETE')).status).toBe(404);
      expect(await statusesOf('shop', 2001)).toEqual([302, 200]);
      expect((await ask('shop', '/screenshot/2001', 'DELETE')).status).toBe(200);
      expect(await statusesOf('shop', 2001)).toEqual([404, 404]);
      expect(await statusesOf('news', 2002)).toEqual([302, 200]);
    });
  });
});
