import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceForSuite } from '../../support/for-suite.ts';
import { type RunningApp, serve } from '../../support/serve.ts';
import { NO_BROWSER } from '../../support/service.ts';

const KEY = 'first-secret';
const OTHER_KEY = 'second-secret';

const app = serviceForSuite(NO_BROWSER, { apiKey: [KEY, OTHER_KEY] });
let openApp: RunningApp;

beforeAll(async () => {
  openApp = await serve(app.service);
});

afterAll(async () => {
  await openApp?.close();
});

/** Sends path and method unchanged; `fetch` would normalise them. */
async function status(method: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  const { hostname, port } = new URL(app.baseUrl);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('authenticate', () => {
  it.each([
    { Authorization: `Bearer ${KEY}` },
    { Authorization: `bearer  ${KEY}` },
    { Authorization: `Bearer ${OTHER_KEY}` },
    { 'X-API-Key': KEY },
    { 'X-API-Key': OTHER_KEY },
    { Authorization: 'Bearer wrong', 'X-API-Key': KEY },
    { Authorization: `Bearer ${KEY}`, 'X-API-Key': 'wrong' },
  ])('accepts a request with %o', async (headers) => {
    expect((await app.call('/stats', { headers })).status).toBe(200);
  });

  it.each([
    {},
    { Authorization: '' },
    { Authorization: 'Bearer' },
    { Authorization: 'Bearer ' },
    { Authorization: KEY },
    { Authorization: `Basic ${KEY}` },
    { Authorization: `Bearer ${KEY}x` },
    { Authorization: `Bearer ${KEY.slice(1)}` },
    { Authorization: `Bearer ${KEY} ${KEY}` },
    { Authorization: `Bearer ${KEY.toUpperCase()}` },
    { 'X-API-Key': '' },
    { 'X-API-Key': `${KEY},${KEY}` },
  ])('refuses a request with %o', async (headers) => {
    const response = await app.call('/stats', { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    const body = await response.json();
    expect(body).toMatchObject({ success: false, code: 'unauthorized', error: expect.stringContaining('X-API-Key') });
    expect(JSON.stringify(body)).not.toContain(KEY);
  });

  it('does not accept a key in the query', async () => {
    expect((await app.call(`/stats?api_key=${KEY}&key=${KEY}`)).status).toBe(401);
  });

  it.each(['/livez', '/readyz', '/readyz/reads', '/readyz/any', '/openapi.json'])(
    'requires no key for GET and HEAD of %s, and one for other methods',
    async (path) => {
      for (const method of ['GET', 'HEAD']) expect(await status(method, path)).not.toBe(401);
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']) {
        expect(await status(method, path)).toBe(401);
        expect(await status(method, path, { 'X-API-Key': KEY })).toBe(405);
      }
    },
  );

  it.each([
    '//livez',
    '/livez/',
    '/LIVEZ',
    '/%6civez',
    '/livez%2f',
    '/livez;x',
    '/./livez',
    '/x/../livez',
    '/results/../livez',
    '/openapi.json/',
    '/readyz%00',
    '/nothing',
    '/screenshot',
    '/screenshot/1',
    '/screenshots',
    '/results',
    '/results/by-url',
    '/results/by-host',
    '/results/1',
    '/stats',
    '/pressure',
    '/limits',
  ])('requires a key for %s with every method', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(await status(method, path)).toBe(401);
  });

  it('requires a key for / with every method that changes something', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect(await status(method, '/')).toBe(401);
    expect(await status('GET', '/')).toBe(200);
  });

  it('requires no key for an open path with a query', async () => {
    expect((await app.call('/livez?')).status).toBe(200);
    expect((await app.call('/livez?verbose')).status).toBe(400);
  });

  it('checks the key before the body', async () => {
    const response = await app.call('/batch', { method: 'POST', body: '{' });
    expect(response.status).toBe(401);
  });

  it('requires no key when none is configured', async () => {
    expect((await openApp.call('/stats')).status).toBe(200);
    expect((await openApp.call('/stats', { headers: { Authorization: 'Bearer whatever' } })).status).toBe(200);
    expect((await openApp.call('/nothing')).status).toBe(404);
  });

  it('accepts keys of any bytes', async () => {
    const odd = await serve(app.service, { apiKey: ['schlüssel'] });
    try {
      const { hostname, port } = new URL(odd.baseUrl);
      const headers = { 'X-API-Key': Buffer.from('schlüssel', 'utf8').toString('latin1') };
      const answer = await new Promise((resolve, reject) => {
        request({ hostname, port, path: '/stats', headers }, (response) => resolve(json(response)))
          .on('error', reject)
          .end();
      });
      expect(answer).toMatchObject({ success: true });
    } finally {
      await odd.close();
    }
  });
});
