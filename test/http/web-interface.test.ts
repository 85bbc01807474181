import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceForSuite } from '../support/for-suite.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';
import { buildUi } from '../ui/ui-service.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** Maximum size of the compressed files of a first visit, in bytes. */
const MAX_BUNDLE = 150_000;

describe('the web interface', () => {
  const running = serviceForSuite(NO_BROWSER);
  let directory: string;
  let app: RunningApp;

  beforeAll(async () => {
    directory = await buildUi();
    app = await serve(running.service, { apiKey: ['secret'], uiDirectory: directory });
  });

  afterAll(() => app?.close());

  async function assetPaths(): Promise<readonly string[]> {
    const page = await (await app.call('/ui/')).text();
    return [...page.matchAll(/"(assets\/[^"]+)"/g)].map(([, path]) => `/ui/${path}`);
  }

  it.each(['/', '/ui'])('redirects a browser from %s to /ui/', async (path) => {
    const response = await app.call(path, { headers: { Accept: BROWSER }, redirect: 'manual' });
    expect(response.status).toBe(302);
    expect(response.headers.get('Location')).toBe('/ui/');
  });

  it.each(['*/*', 'application/json'])(
    'answers / with where to begin, without a key, when Accept is %s',
    async (accept) => {
      const response = await app.call('/', { headers: { Accept: accept }, redirect: 'manual' });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        data: { capture: expect.stringContaining('/screenshot'), documentation: expect.stringContaining('/docs') },
      });
    },
  );

  it.each(['/ui/', '/ui/capture', '/ui/results/12', '/ui/operations'])(
    'serves its page at %s without a key',
    async (path) => {
      const response = await app.call(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('Cache-Control')).toBe('no-cache');
      expect(await response.text()).toContain('<div id="app">');
    },
  );

  it('sends a content security policy without exceptions', async () => {
    const policy = (await app.call('/ui/')).headers.get('Content-Security-Policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  });

  it('lets browsers cache the files whose names contain their hash', async () => {
    const paths = await assetPaths();
    expect(paths.length).toBeGreaterThanOrEqual(3);
    for (const path of paths) {
      expect(path).toMatch(/-[\dA-Za-z]{8}\.(js|css|svg)$/);
      const response = await app.call(path);
      expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    }
  });

  it('sends each file in the best encoding that the client accepts, with one ETag for each encoding', async () => {
    const [path = ''] = await assetPaths();
    const get = async (encoding: string) => {
      const response = await fetch(app.baseUrl + path, { headers: { 'Accept-Encoding': encoding } });
      return { response, text: await response.text() };
    };
    const [br, gzip, plain] = await Promise.all([get('gzip, br'), get('gzip'), get('identity')]);
    expect(br.response.headers.get('Content-Encoding')).toBe('br');
    expect(gzip.response.headers.get('Content-Encoding')).toBe('gzip');
    expect(plain.response.headers.get('Content-Encoding')).toBeNull();
    expect([br.text, gzip.text]).toEqual([plain.text, plain.text]);
    const tags = [br, gzip, plain].map(({ response }) => response.headers.get('ETag'));
    expect(new Set(tags).size).toBe(3);
    for (const { response } of [br, gzip, plain]) expect(response.headers.get('Vary')).toContain('Accept-Encoding');
  });

  it('answers 304 to a browser that has the page already', async () => {
    const first = await app.call('/ui/');
    const again = await app.call('/ui/', { headers: { 'If-None-Match': first.headers.get('ETag') ?? '' } });
    expect(again.status).toBe(304);
  });

  it.each(['/ui/assets/none.js', '/ui/assets/../index.html', '/ui/assets/%2e%2e%2findex.html'])(
    'serves only files of the interface, not %s',
    async (path) => {
      const response = await app.call(path);
      const text = await response.text();
      if (response.status === 200) expect(text).toContain('<div id="app">');
      else expect(JSON.parse(text)).toMatchObject({ code: 'not_found' });
    },
  );

  it('names the build command when the interface was not built', async () => {
    const unbuilt = await serve(running.service, { uiDirectory: join(directory, 'nowhere') });
    const response = await unbuilt.call('/ui/');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: expect.stringContaining('npm run build:ui') });
    await unbuilt.close();
  });

  it('takes less than 150 kB compressed, with all its views', async () => {
    const assets = join(directory, 'assets');
    const names = (await readdir(assets)).filter((name) => name.endsWith('.gz'));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(assets, name))).size));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(names.length).toBeGreaterThan(3);
    expect(total).toBeLessThan(MAX_BUNDLE);
  });
});
