import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { siteForSuite } from '../../support/for-suite.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { failureOf } from '../answers.ts';

const site = siteForSuite();
const hangUp = new AbortController();
let full: RunningService;

beforeAll(async () => {
  full = await startService({ maxConcurrent: 1, maxQueue: 0 });
  const kept = await full.post('/screenshot', { url: site.url('/short') });
  expect(kept.status).toBe(200);
  const started = full.next('capture.started');
  full.post('/screenshot', { url: site.url('/hang') }, { signal: hangUp.signal }).catch(() => {});
  await started;
});

afterAll(async () => {
  hangUp.abort();
  await full?.stop();
});

/** Sends a head whose body never follows, and returns the status line of the answer. */
async function statusOfHead(path: string, headers: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(full.baseUrl);
  const socket = connect(Number(port), hostname);
  try {
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers.join('\r\n')}\r\n\r\n`);
    const [first]: Buffer[] = await once(socket, 'data');
    return first?.toString('latin1').split('\r\n')[0] ?? '';
  } finally {
    socket.destroy();
  }
}

describe('a full queue', () => {
  const json = 'Content-Type: application/json';

  it.each([
    ['/screenshot', [json, 'Content-Length: 100000']],
    ['/screenshot', [json, 'Transfer-Encoding: chunked']],
    ['/screenshot', [json, 'Content-Length: 100', 'Content-Encoding: gzip']],
    ['/batch', [json, 'Content-Length: 100']],
    ['/batch', ['Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked']],
  ])('refuses the request before its body is sent: %s %j', async (path, headers) => {
    const { refused } = full.service.stats().captures;
    expect(await statusOfHead(path, headers)).toBe('HTTP/1.1 429 Too Many Requests');
    expect(full.service.stats().captures.refused).toBe(refused + 1);
  });

  it.each([
    ['a small body that is never sent', [json, 'Content-Length: 100']],
    ['a small body of another type', ['Content-Type: text/plain', 'Content-Length: 100']],
  ])('refuses a request once, without waiting for the rest of it: %s', async (_what, headers) => {
    const { refused } = full.service.stats().captures;
    expect(await statusOfHead('/screenshot', headers)).toBe('HTTP/1.1 429 Too Many Requests');
    expect(full.service.stats().captures.refused).toBe(refused + 1);
  });

  it('discards the rest of a refused body, and answers the next request of the connection', async () => {
    const { hostname, port } = new URL(full.baseUrl);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    const answered = async (status: number) => {
      while (!received.includes(`HTTP/1.1 ${status} `)) await once(socket, 'data');
    };
    socket.write(`POST /screenshot HTTP/1.1\r\nHost: localhost\r\n${json}\r\nContent-Length: 100000\r\n\r\n`);
    await answered(429);
    socket.write(`${' '.repeat(100_000)}GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await answered(200);
  });

  it.each(['{"url": "http://', 'no JSON', ''])('refuses a request with a body that is not JSON: %j', async (body) => {
    const { refused } = full.service.stats().captures;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${full.baseUrl}/screenshot`, { method: 'POST', headers, body });
    expect(response.status).toBe(429);
    expect(full.service.stats().captures.refused).toBe(refused + 1);
  });

  it.each([{}, { url: 1 }, [], null])('refuses the request before its body is validated: %j', async (body) => {
    const response = await full.post('/screenshot', body);
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await failureOf(response)).code).toBe('queue_full');
  });

  it('still answers with an earlier capture', async () => {
    const response = await full.post('/screenshot', { url: site.url('/short'), cacheMaxAgeMs: 60_000 });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ data: { cached: true } });
    expect((await full.post('/screenshot', { url: site.url('/404'), cacheMaxAgeMs: 60_000 })).status).toBe(429);
  });

  it('still accepts jobs', async () => {
    const headers = { Prefer: 'respond-async' };
    expect((await full.post('/screenshot', { url: site.url('/404') }, { headers })).status).toBe(202);
  });
});
