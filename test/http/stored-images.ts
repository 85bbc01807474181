import { beforeAll, describe, expect, it } from 'vitest';
import { sentInfo } from '../../src/capture/artifacts/artifact-paths.ts';
import type { ServiceConfig } from '../../src/config/slices.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { idsOf, nextPage } from './answers.ts';
import { type KeptCapture, keepCapture } from './stored-capture.ts';

/** Requirements of stored files over HTTP, wherever they are stored. `config` returns a service with an empty store. */
export function describeStoredImages(config: (name: string) => Partial<ServiceConfig>): void {
  const app = serviceForSuite(() => config('images'));
  let png: KeptCapture;
  let jpeg: KeptCapture;

  beforeAll(async () => {
    png = await keepCapture(app.service, 1001);
    jpeg = await keepCapture(app.service, 1002, { format: 'jpeg' });
  });

  describe('GET /screenshot/:id', () => {
    it('returns the image with caching headers', async () => {
      const response = await app.call('/screenshot/1001');
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(png.image.length),
        etag: `"${png.info.sha256}"`,
        'cache-control': expect.stringMatching(/^private, .*immutable/),
        'accept-ranges': 'bytes',
        'x-capture-id': '1001',
        'x-content-type-options': 'nosniff',
        vary: 'Accept',
      });
      expect(await bytes(response)).toEqual(png.image);
      expect((await app.call('/screenshot/1002')).headers.get('Content-Type')).toBe('image/jpeg');
    });

    it.each([
      ['/screenshot/1001?view=metadata', '*/*'],
      ['/screenshot/1001?view=metadata', 'image/*'],
      ['/screenshot/1001', 'application/json'],
      ['/screenshot/1001', 'application/json, image/*;q=0.5'],
    ])('returns the metadata for %s with Accept: %s', async (path, accept) => {
      const response = await app.call(path, { headers: { Accept: accept } });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        success: true,
        message: '',
        data: sentInfo(png.info),
        request_id: response.headers.get('X-Request-Id'),
      });
    });

    it.each([
      ['/screenshot/1001', 'image/*, application/json'],
      ['/screenshot/1001', 'text/html,image/webp,*/*;q=0.8'],
      ['/screenshot/1001?view=image', 'application/json'],
    ])('returns the image for %s with Accept: %s', async (path, accept) => {
      const response = await app.call(path, { headers: { Accept: accept } });
      expect(response.headers.get('Content-Type')).toBe('image/png');
      expect(await bytes(response)).toEqual(png.image);
    });

    it('returns the HTML snapshot with headers that keep it from running scripts or loading anything', async () => {
      const response = await app.call('/screenshot/1001?view=html');
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      const policy = response.headers.get('Content-Security-Policy')?.split(/;\s*/) ?? [];
      expect(policy).toContain('sandbox');
      expect(policy).toContain("default-src 'none'");
      expect(policy.join(' ')).not.toMatch(/allow-|script-src|https?:|\*/);
      expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(policy).toContain("frame-ancestors 'self'");
      expect(response.headers.get('X-Frame-Options')).toBe('SAMEORIGIN');
      expect(response.headers.get('Referrer-Policy')).toBe('no-referrer');
      expect(response.headers.get('Set-Cookie')).toBeNull();
      expect(await response.text()).toBe(png.html);
    });

    it.each(['0', '-1', '1.5', 'abc', '1e3', '0x10', '%31%2f', '+1', ' 1', '01a'])(
      'answers 400 to the id %s',
      async (id) => {
        const response = await app.call(`/screenshot/${id}`);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ success: false, code: 'invalid_id' });
      },
    );

    it.each(['999', '9007199254740991', '9007199254740993', '99999999999999999999'])(
      'answers 404 to the id %s',
      async (id) => {
        for (const view of ['', '?view=image', '?view=metadata', '?view=html']) {
          const response = await app.call(`/screenshot/${id}${view}`);
          expect(response.status).toBe(404);
          expect(await response.json()).toMatchObject({ success: false, code: 'not_found' });
        }
      },
    );

    it.each(['view=pdf', 'view=', 'view=IMAGE', 'view=html&view=image'])('answers 400 to %s', async (query) => {
      const response = await app.call(`/screenshot/1001?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'invalid_request', data: { problems: [{ path: 'view' }] } });
    });
  });

  describe('conditional GET of a file', () => {
    it.each(['', '?view=html'])('answers 304 when the ETag matches: %s', async (view) => {
      const etag = (await app.call(`/screenshot/1001${view}`)).headers.get('ETag') ?? '';
      expect(etag).toMatch(/^"[^"]+"$/);
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const headers = { 'If-None-Match': condition };
          const response = await app.call(`/screenshot/1001${view}`, { method, headers });
          expect(response.status, condition).toBe(304);
          expect(response.headers.get('ETag')).toBe(etag);
          expect(response.headers.get('Cache-Control')).toContain('immutable');
          expect(await response.text()).toBe('');
        }
      }
      const changed = await app.call(`/screenshot/1001${view}`, { headers: { 'If-None-Match': '"other"' } });
      expect(changed.status).toBe(200);
    });

    it('sends a different ETag for each representation', async () => {
      const image = (await app.call('/screenshot/1001')).headers.get('ETag');
      const html = (await app.call('/screenshot/1001?view=html')).headers.get('ETag');
      expect(new Set([image, html, `"${jpeg.info.sha256}"`]).size).toBe(3);
    });

    it('checks If-None-Match before Range', async () => {
      const headers = { 'If-None-Match': `"${png.info.sha256}"`, Range: 'bytes=0-1' };
      expect((await app.call('/screenshot/1001', { headers })).status).toBe(304);
    });
  });

  describe('HEAD of a file', () => {
    it.each(['', '?view=html', '?view=metadata'])('returns the headers of GET without a body: %s', async (view) => {
      const [head, get] = [
        await app.call(`/screenshot/1001${view}`, { method: 'HEAD' }),
        await app.call(`/screenshot/1001${view}`),
      ];
      expect(head.status).toBe(200);
      for (const name of ['Content-Type', 'Content-Length', 'ETag', 'Cache-Control', 'Accept-Ranges']) {
        expect(head.headers.get(name), name).toBe(get.headers.get(name));
      }
      expect(await head.text()).toBe('');
    });

    it('ignores Range', async () => {
      const response = await app.call('/screenshot/1001', { method: 'HEAD', headers: { Range: 'bytes=0-1' } });
      expect(response.status).toBe(200);
    });
  });

  describe('GET of a file with a Range', () => {
    it.each([
      ['bytes=0-6', 0, 7],
      ['bytes=7-', 7, undefined],
      ['bytes=-4', -4, undefined],
      ['bytes=3-100000', 3, undefined],
    ])('answers %s with 206 and that part', async (range, start, end) => {
      const response = await app.call('/screenshot/1001', { headers: { Range: range } });
      const expected = png.image.subarray(start, end);
      const first = start < 0 ? png.image.length + start : start;
      expect(response.status).toBe(206);
      expect(response.headers.get('Content-Range')).toBe(
        `bytes ${first}-${first + expected.length - 1}/${png.image.length}`,
      );
      expect(response.headers.get('Content-Length')).toBe(String(expected.length));
      expect(response.headers.get('ETag')).toBe(`"${png.info.sha256}"`);
      expect(await bytes(response)).toEqual(expected);
    });

    it('answers 416 with the size for a range past the end', async () => {
      const response = await app.call('/screenshot/1001', { headers: { Range: 'bytes=100000-' } });
      expect(response.status).toBe(416);
      expect(response.headers.get('Content-Range')).toBe(`bytes */${png.image.length}`);
      expect(response.headers.get('Cache-Control')).toBe('no-store');
      expect(await response.json()).toMatchObject({ success: false, code: 'range_not_satisfiable' });
    });

    it.each(['bytes=5-1', 'bytes=0-1,3-4', 'items=0-1', 'bytes'])('answers %s with the whole file', async (range) => {
      const response = await app.call('/screenshot/1001', { headers: { Range: range } });
      expect(response.status).toBe(200);
      expect(await bytes(response)).toEqual(png.image);
    });

    it('answers with the whole file when If-Range names another version', async () => {
      const status = async (condition: string) =>
        (await app.call('/screenshot/1001', { headers: { Range: 'bytes=0-1', 'If-Range': condition } })).status;
      expect(await status(`"${png.info.sha256}"`)).toBe(206);
      expect(await status('"other"')).toBe(200);
      expect(await status(`W/"${png.info.sha256}"`)).toBe(200);
      expect(await status('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(200);
    });

    it('keeps the headers that make the HTML snapshot harmless', async () => {
      const response = await app.call('/screenshot/1001?view=html', { headers: { Range: 'bytes=0-13' } });
      expect(response.status).toBe(206);
      expect(response.headers.get('Content-Security-Policy')).toContain('sandbox');
      expect(await response.text()).toBe(png.html.slice(0, 14));
    });
  });

  describe('GET /screenshots', () => {
    const listed = serviceForSuite(() => config('lists'));
    const ids = [5, 4, 3, 2, 1];

    beforeAll(async () => {
      for (const id of ids.toReversed()) await keepCapture(listed.service, id);
    });

    it('returns a bare array, newest first', async () => {
      const response = await listed.call('/screenshots');
      expect(response.status).toBe(200);
      expect(response.headers.get('Link')).toBeNull();
      const infos = await Promise.all(ids.map((id) => listed.service.artifacts.info(id)));
      expect(await response.json()).toEqual(infos.map((info) => info && sentInfo(info)));
    });

    it('returns pages, each with a link to the next page except the last', async () => {
      const seen: (readonly number[])[] = [];
      for (let path: string | undefined = '/screenshots?limit=2'; path !== undefined; ) {
        const response: Response = await listed.call(path);
        seen.push(await idsOf(response));
        path = nextPage(response);
      }
      expect(seen).toEqual([[5, 4], [3, 2], [1]]);
    });

    it.each(['limit=x', 'limit=1.5', 'limit=', 'cursor=x', 'cursor=', 'limit=1&limit=2', 'other=1'])(
      'refuses %s',
      async (query) => {
        const response = await listed.call(`/screenshots?${query}`);
        expect(response.status).toBe(400);
        const [name] = query.split('=');
        expect(await response.json()).toMatchObject({ code: 'invalid_request', data: { problems: [{ path: name }] } });
      },
    );

    it.each(['limit=0', 'limit=-3', 'limit=5000'])('accepts %s', async (query) => {
      expect(await (await listed.call(`/screenshots?${query}`)).json()).toHaveLength(5);
    });
  });
}

async function bytes(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}
