import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { collectingLogger } from '../support/collecting-logger.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { serve } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';
import { idsOf, nextPage } from './answers.ts';
import { keepCapture } from './stored-capture.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const KEY = 'a-secret-key';

const { logger, lines } = collectingLogger();
const app = serviceForSuite(NO_BROWSER, { logger });

/** Returns the log line of a request, which may be written after the client has its answer. */
async function accessLine(requestId: string): Promise<Record<string, unknown>> {
  const found = () => lines.filter((line) => line.request_id === requestId && line.msg === 'request');
  await expect.poll(found).toHaveLength(1);
  return Object(found()[0]);
}

describe('the log line of a batch', () => {
  it('logs a batch with the id that its events have', async () => {
    const batches: string[] = [];
    const watching = app.service.events$.subscribe((event) => {
      if (event.type === 'batch.accepted') batches.push(event.batch);
    });
    const headers = { 'X-Request-Id': 'of-a-batch' };
    const answer = await app.post('/batch', { requests: [{ url: 'http://10.0.0.1/' }] }, { headers });
    watching.unsubscribe();
    expect(await answer.json()).toHaveLength(1);
    expect(batches).toHaveLength(1);
    expect(await accessLine('of-a-batch')).toMatchObject({ batch: batches[0] });
  });
});

describe('requestId', () => {
  it.each(['abc', 'A.b:c-d_9', 'x'.repeat(128)])("keeps the client's id when it is valid: %s", async (id) => {
    const response = await app.call('/livez', { headers: { 'X-Request-Id': id } });
    expect(response.headers.get('X-Request-Id')).toBe(id);
    expect(await response.json()).toMatchObject({ request_id: id });
  });

  it.each(['', 'a b', 'x'.repeat(129), 'é', 'a,b', '<script>'])('replaces an invalid id: %j', async (id) => {
    const response = await app.call('/livez', { headers: { 'X-Request-Id': id } });
    expect(response.headers.get('X-Request-Id')).toMatch(UUID);
  });

  it('sends the id in every answer, including failures and bare arrays', async () => {
    for (const path of ['/livez', '/nothing', '/results/x', '/screenshots', '/openapi.json']) {
      expect((await app.call(path)).headers.get('X-Request-Id')).toMatch(UUID);
    }
  });
});

describe('routing', () => {
  it.each([
    ['/screenshot', 'GET, HEAD, POST'],
    ['/batch', 'POST'],
    ['/screenshot/1', 'DELETE, GET, HEAD, PATCH'],
    ['/screenshots', 'GET, HEAD'],
    ['/results', 'GET, HEAD, PATCH'],
    ['/results/by-url', 'GET, HEAD'],
    ['/results/by-host', 'GET, HEAD'],
    ['/results/1', 'GET, HEAD'],
    ['/livez', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/stats', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
  ])('answers other methods of %s with 405 and Allow: %s', async (path, allow) => {
    const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (method) => !allow.includes(method),
    );
    for (const method of others) {
      const response = await app.call(path, { method });
      expect(response.status, method).toBe(405);
      expect(response.headers.get('Allow')).toBe(allow);
      if (method !== 'HEAD')
        expect(await response.json()).toMatchObject({ success: false, code: 'method_not_allowed' });
    }
  });

  it.each(['/nothing', '/Livez', '/livez/', '/results/', '/results/1/x', '/screenshot/1/html', '/SCREENSHOTS', '/%zz'])(
    'answers 404 for %s with any method',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const response = await app.call(path, { method });
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ success: false, code: 'not_found' });
      }
    },
  );

  it.each(['/livez', '/stats', '/openapi.json', '/screenshots', '/results/x', '/nothing'])(
    'answers HEAD of %s as GET without the body',
    async (path) => {
      const [head, get] = [await app.call(path, { method: 'HEAD' }), await app.call(path)];
      expect(head.status).toBe(get.status);
      expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
      expect(await head.text()).toBe('');
    },
  );
});

describe('an unexpected exception', () => {
  it('answers without details, and logs them with the request id', async () => {
    const { service } = app;
    const broken: typeof service = Object.create(service, {
      stats: {
        value: () => {
          throw new Error('the password is hunter2');
        },
      },
    });
    const failing = await serve(broken, { logger });
    try {
      const response = await failing.call('/stats', { headers: { 'X-Request-Id': 'inside-1' } });
      expect(response.status).toBe(500);
      const body = await response.text();
      expect(JSON.parse(body)).toMatchObject({ success: false, code: 'internal', request_id: 'inside-1' });
      expect(body).not.toContain('hunter2');
      const logged = lines.find((line) => line.request_id === 'inside-1' && line.msg === 'request failed');
      expect(JSON.stringify(logged)).toContain('hunter2');
      expect(await accessLine('inside-1')).toMatchObject({ status: 500, level: 40 });
    } finally {
      await failing.close();
    }
  });
});

describe('securityHeaders', () => {
  it.each(['/livez', '/nothing', '/screenshots', '/openapi.json'])(
    'forbids sniffing, framing and caching of %s',
    async (path) => {
      const { headers } = await app.call(path);
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('X-Frame-Options')).toBe('DENY');
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(headers.get('Set-Cookie')).toBeNull();
    },
  );
});

describe('accessLog', () => {
  it('logs one line for each request', async () => {
    await keepCapture(app.service, 77);
    const response = await app.call('/screenshot/77', { headers: { 'X-Request-Id': 'line-1' } });
    const { byteLength } = await response.arrayBuffer();
    const line = await accessLine('line-1');
    expect(line).toMatchObject({ method: 'GET', path: '/screenshot/77', status: 200, capture_id: 77, level: 30 });
    expect(line.duration_ms).toBeGreaterThanOrEqual(0);
    expect(line.bytes).toBeGreaterThan(byteLength);
    expect(line).not.toHaveProperty('aborted');
  });

  it.each([
    ['PATCH', '/limits', JSON.stringify({ maxQueue: 1000 })],
    ['DELETE', '/screenshot/78', undefined],
    ['GET', '/stats', undefined],
  ])('logs the client and the fingerprint of its API key for %s %s', async (method, path, body) => {
    const secured = await serve(app.service, { logger, apiKey: [KEY] });
    try {
      const id = `audit-${method}`;
      const headers = { 'X-Request-Id': id, 'X-API-Key': KEY, 'Content-Type': 'application/json' };
      await (await secured.call(path, { method, headers, ...(body === undefined ? {} : { body }) })).text();
      const fingerprint = createHash('sha256').update(KEY).digest('hex').slice(0, 8);
      expect(await accessLine(id)).toMatchObject({ method, path, api_key: fingerprint, client_address: '127.0.0.1' });
      await (await secured.call(path, { method, headers: { 'X-Request-Id': `${id}-open` } })).text();
      expect(await accessLine(`${id}-open`)).not.toHaveProperty('api_key');
    } finally {
      await secured.close();
    }
  });

  it('logs neither keys nor queries', async () => {
    const secured = await serve(app.service, { logger, apiKey: [KEY] });
    try {
      for (const headers of [
        { Authorization: `Bearer ${KEY}` },
        { 'X-API-Key': KEY },
        { 'X-API-Key': `${KEY}-wrong` },
      ]) {
        await secured.call(`/results/by-url?url=https://example.com/${KEY}`, { headers });
      }
      await secured.call('/livez', { headers: { 'X-Request-Id': 'line-2' } });
      await accessLine('line-2');
      expect(JSON.stringify(lines)).not.toContain(KEY);
    } finally {
      await secured.close();
    }
  });

  it('logs status 499 when the client disconnected before its answer', async () => {
    const { hostname, port } = new URL(app.baseUrl);
    const headers = { 'X-Request-Id': 'line-3', 'Content-Type': 'application/json', 'Content-Length': '100' };
    const sent = request({ hostname, port, method: 'POST', path: '/screenshot', headers });
    sent.on('error', () => {});
    sent.write('{', () => sent.destroy());
    expect(await accessLine('line-3')).toMatchObject({ status: 499, aborted: true });
  });

  it('reads no more runs of watches when the client disconnected', async () => {
    for (let watch = 0; watch < 3; watch += 1) {
      const added = await app.post('/watches', { url: 'http://127.0.0.1:9999/', every: '300d' });
      expect(added.status).toBe(201);
    }
    const client = new AbortController();
    let reads = 0;
    const history = async () => {
      reads += 1;
      client.abort();
      // The service has noticed when it has logged the request.
      await accessLine('line-4');
      return { items: [], isCut: false };
    };
    const { service } = app;
    const counted = await serve({ ...service, watches: { ...service.watches, history } }, { logger });
    try {
      const headers = { 'X-Request-Id': 'line-4' };
      const asked = counted.call('/watches?recent=5', { headers, signal: client.signal });
      await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
      await accessLine('line-4');
      // These take more turns of the event loop than reading on would.
      for (let turn = 0; turn < 3; turn += 1) await counted.call('/livez');
      expect(reads).toBe(1);
    } finally {
      await counted.close();
    }
  });
});

describe('a list of watches with their runs', () => {
  it('ends a page after 2 MiB, and leads to the rest', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const found = {
      capture: null,
      before: null,
      changed: [],
      share: null,
      regions: [],
      values: null,
      verdict: null,
      code: null,
    };
    const items = [{ due: at, at, state: 'failed' as const, ...found, reason: 'x'.repeat(1_500_000) }];
    const { service } = app;
    const watches = { ...service.watches, history: async () => ({ items, isCut: false }) };
    const large = await serve({ ...service, watches }, { logger });
    try {
      for (let watch = 0; watch < 3; watch += 1) await app.post('/watches', { url: app.baseUrl, every: '300d' });
      const all = await idsOf(await large.call('/watches?limit=3'));
      const first = await large.call('/watches?limit=3&recent=1');
      expect(await idsOf(first)).toEqual(all.slice(0, 2));
      expect((await idsOf(await large.call(nextPage(first) ?? '')))[0]).toBe(all[2]);
    } finally {
      await large.close();
    }
  });
});
