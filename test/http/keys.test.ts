import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRateLimits } from '../../src/http/keys/rate-limits.ts';
import { collectingLogger } from '../support/collecting-logger.ts';
import { serve } from '../support/serve.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { failureOf } from './answers.ts';

const NAMED = [
  { name: 'monitor', key: 'monitor-key', rate: null, scope: 'read' },
  { name: 'shop', key: 'shop-key', rate: 3, scope: 'capture' },
  { name: 'news', key: 'news-key', rate: null, scope: 'capture' },
  { name: 'root', key: 'root-key', rate: null, scope: 'admin' },
] as const;
const PLAIN = 'plain-key';
const Job = z.object({ data: z.object({ id: z.string(), state: z.string() }) });

const { logger, lines } = collectingLogger();
let app: RunningService;

beforeAll(async () => {
  const apiKey = [PLAIN, ...NAMED.map(({ key }) => key)];
  app = await startService(NO_BROWSER, { apiKey, namedKeys: NAMED }, logger);
});
afterAll(() => app?.stop());

function ask(key: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return app.call(path, {
    method,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

describe('the scope of a named key', () => {
  it.each([
    ['monitor-key', [200, 403, 403, 403]],
    ['news-key', [200, 200, 403, 403]],
    ['root-key', [200, 200, 404, 200]],
    [PLAIN, [200, 200, 404, 200]],
  ])('limits what the key %s may do', async (key, statuses) => {
    const answers = [
      await ask(key, 'GET', '/stats'),
      await ask(key, 'POST', '/batch', { requests: [] }),
      await ask(key, 'DELETE', '/screenshot/7'),
      await ask(key, 'PATCH', '/limits', { maxQueue: 1000 }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
  });

  it('names the scope in the refusal, before the request is read', async () => {
    const response = await ask('monitor-key', 'POST', '/screenshot', 'no JSON');
    expect(response.status).toBe(403);
    expect(await failureOf(response)).toMatchObject({
      code: 'key_not_permitted',
      error: 'The API key monitor has the scope read, and this needs the scope capture.',
    });
  });

  it('ignores the scope on open paths', async () => {
    expect((await ask('monitor-key', 'GET', '/livez')).status).toBe(200);
  });
});

describe('the rate of a named key', () => {
  const two = { requests: [{ url: 'file:///x' }, { url: 'file:///y' }] };
  const limits = (response: Response) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(response.headers.get(`x-ratelimit-${name}`)));

  it('tells the same seconds at any time, whatever the sums of fractions of milliseconds are rounded to', () => {
    const times = Array.from({ length: 1000 }, (_, index) => 1_000_000 + index / 7);
    const states = times.map((at) => {
      const rates = createRateLimits(() => at);
      return [rates.take('shop', 3, 2).resetSeconds, rates.take('shop', 3, 2).retryAfterSeconds];
    });
    expect(new Set(states.map(String))).toEqual(new Set(['40,20']));
  });

  it('accepts a request after the seconds that its refusal named', () => {
    let at = 0;
    const rates = createRateLimits(() => at);
    rates.take('shop', 6_000, 6_000);
    at = 9.5;
    const { retryAfterSeconds } = rates.take('shop', 6_000, 101);
    at += retryAfterSeconds * 1000;
    expect([retryAfterSeconds, rates.take('shop', 6_000, 101).retryAfterSeconds]).toEqual([2, 0]);
  });

  it('counts captures per key, and refuses requests with 429 when too few captures are left', async () => {
    const first = await ask('shop-key', 'POST', '/batch', two);
    expect(first.status).toBe(200);
    expect(limits(first)).toEqual([3, 1, 40]);

    const second = await ask('shop-key', 'POST', '/batch', two);
    expect(second.status).toBe(429);
    expect(await failureOf(second)).toMatchObject({
      code: 'rate_limited',
      error: 'The API key shop may request 3 captures a minute: 1 are left, and this needs 2.',
    });
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(limits(second)[1]).toBe(1);

    const body = '{"url":"file:///a"}\n{"url":"file:///b"}\n';
    const sent = await ask('shop-key', 'POST', '/batch', body, { 'Content-Type': 'application/x-ndjson' });
    const items = (await sent.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(items.map(({ url, code }) => [url, code])).toEqual(
      expect.arrayContaining([
        ['file:///a', 'target_forbidden'],
        ['file:///b', 'rate_limited'],
      ]),
    );
    expect((await ask('shop-key', 'POST', '/screenshot', { url: 'file:///x' })).status).toBe(429);

    const other = await ask('news-key', 'POST', '/batch', two);
    expect(other.status).toBe(200);
    expect(other.headers.has('x-ratelimit-limit')).toBe(false);
    expect((await ask('shop-key', 'GET', '/stats')).status).toBe(200);
  });
});

describe('jobs of a named key', () => {
  it('lets only administrators and the key that created a job read and cancel the job', async () => {
    const asked = await ask('news-key', 'POST', '/batch', { requests: [] }, { Prefer: 'respond-async' });
    expect(asked.status).toBe(202);
    const { id } = Job.parse(await asked.json()).data;
    const statuses = (method: string) =>
      Promise.all(
        ['shop-key', 'monitor-key', 'news-key', 'root-key', PLAIN].map(
          async (key) => (await ask(key, method, `/jobs/${id}`)).status,
        ),
      );
    expect(await statuses('GET')).toEqual([404, 404, 200, 200, 200]);
    expect(await statuses('DELETE')).toEqual([404, 403, 200, 200, 200]);

    const unnamed = await ask(PLAIN, 'POST', '/batch', { requests: [] }, { Prefer: 'respond-async' });
    const other = Job.parse(await unnamed.json()).data.id;
    expect((await ask('news-key', 'GET', `/jobs/${other}`)).status).toBe(404);
  });
});

describe('the log', () => {
  it('logs the key of a session, and limits the session to the scope of that key', async () => {
    const logins: string[] = [];
    const keyed = await serve(app.service, {
      apiKey: NAMED.map(({ key }) => key),
      namedKeys: NAMED,
      logger: pino({}, { write: (line) => void logins.push(line) }),
    });
    try {
      const login = await keyed.post('/session', { key: 'monitor-key' });
      expect(login.status).toBe(200);
      expect(await login.json()).toMatchObject({ data: { authenticated: true, scope: 'read' } });
      expect(logins.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ msg: 'a session has begun', api_key_name: 'monitor' }),
      );
      const [cookie = ''] = login.headers.getSetCookie();
      const headers = { Cookie: cookie.split(';', 1).join(''), Origin: keyed.baseUrl };
      expect((await keyed.call('/stats', { headers })).status).toBe(200);
      const refused = await keyed.post('/screenshot', { url: 'file:///x' }, { headers });
      expect((await failureOf(refused)).code).toBe('key_not_permitted');
    } finally {
      await keyed.close();
    }
  });

  it('logs the key that changed the limits', async () => {
    await ask('root-key', 'PATCH', '/limits', { maxQueue: 999 });
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'the limits were changed',
        max_queue: 999,
        api_key_name: 'root',
        api_key: createHash('sha256').update('root-key').digest('hex').slice(0, 8),
      }),
    );
    expect(JSON.stringify(lines)).not.toContain('root-key');
  });
});
