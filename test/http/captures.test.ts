import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SentResult } from '../../src/capture/artifacts/artifact-paths.ts';
import { DetailedResultSchema, ResultSchema } from '../../src/http/answer/schemas.ts';
import type { CaptureService } from '../../src/service/create-service.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';
import { NO_BROWSER, startService } from '../support/service.ts';

const Envelope = z.object({
  success: z.boolean(),
  message: z.string(),
  data: z.union([DetailedResultSchema, ResultSchema]).optional(),
  code: z.string().optional(),
});

const NONE = { items: [], omitted: 0 };
const NOTHING_NOTED = { dialogs: NONE, popups: NONE, cookies: NONE };

const site = siteForSuite();
const app = serviceForSuite();

async function resultIn(response: Response): Promise<SentResult> {
  const { data } = Envelope.parse(await response.json());
  if (data === undefined) throw new Error('there is no result in the answer');
  return data;
}

/** Sends a POST that the test can abort. */
function postAndHold(baseUrl: string, path: string, body: unknown): ClientRequest {
  const sent = request(baseUrl + path, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
  sent.on('error', () => {});
  sent.end(JSON.stringify(body));
  return sent;
}

function running$(service: CaptureService): { running: number; queued: number } {
  const { running, queued } = service.stats().queue;
  return { running, queued };
}

describe('POST /screenshot', () => {
  it('answers with the options it was sent, except for secrets, which are stored nowhere', async () => {
    const secret = 'Bearer hunter2hunter2';
    const options = { fullPage: true, device: 'iPhone 15', darkMode: true };
    const sent = { url: site.url('/short'), ...options, headers: { Authorization: secret } };
    const result = await resultIn(await app.post('/screenshot', sent));
    expect(result).toMatchObject({ options, options_withheld: ['headers'] });
    for (const path of [`/results/${result.id}`, '/results?option=device=iphone%2015,headers', '/results/export']) {
      const answer = await (await app.call(path)).text();
      expect(answer).toContain('"device":"iPhone 15"');
      expect(answer).not.toContain(secret);
    }
  });

  it('answers with the result, which GET /results/{id} returns again', async () => {
    const response = await app.post('/screenshot', { url: site.url('/short') });
    expect(response.status).toBe(200);
    const result = await resultIn(response);
    expect(response.headers.get('Location')).toBe(`/screenshot/${result.id}`);
    expect(result).toMatchObject({
      url: site.url('/short'),
      host: '127.0.0.1',
      port: site.port,
      response_code: 200,
      format: 'png',
      screenshot: `/screenshot/${result.id}`,
    });
    expect(await resultIn(await app.call(`/results/${result.id}`))).toEqual(result);
    const image = Buffer.from(await (await app.call(result.screenshot)).arrayBuffer());
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    expect(await (await app.call(result.html)).text()).toContain('<title>');
  });

  it('answers with the image when Accept prefers it', async () => {
    const body = { url: site.url('/short'), format: 'jpg', quality: 50 };
    const response = await app.post('/screenshot', body, { headers: { Accept: 'image/*' } });
    expect(response.status).toBe(200);
    const id = response.headers.get('X-Capture-Id');
    expect(response.headers.get('Content-Type')).toBe('image/jpeg');
    expect(response.headers.get('Location')).toBe(`/screenshot/${id}`);
    const image = Buffer.from(await response.arrayBuffer());
    expect([...image.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    const kept = await app.call(`/screenshot/${id}`);
    expect(kept.headers.get('ETag')).toBe(response.headers.get('ETag'));
    expect(Buffer.from(await kept.arrayBuffer())).toEqual(image);
  });

  it.each([
    ['image/webp', 'image/webp', 'RIFF'],
    ['image/jpeg', 'image/jpeg', '\xff\xd8\xff'],
    ['image/*', 'image/png', '\x89PNG'],
    ['application/pdf', 'application/pdf', '%PDF-'],
    ['application/json;q=0.1, image/webp', 'image/webp', 'RIFF'],
    ['application/json, image/webp', 'application/json', '{"success":true'],
  ])('without a format, captures in the type that Accept %s prefers: %s', async (accept, type, signature) => {
    const response = await app.post('/screenshot', { url: site.url('/short') }, { headers: { Accept: accept } });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')?.split(';')[0]).toBe(type);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 0, signature.length)).toBe(signature);
  });

  it.each([
    [{}, 'image/gif', 'application/json, image/png, image/jpeg, image/webp, application/pdf, text/markdown'],
    [{ format: 'png' }, 'image/webp', 'application/json, image/png, text/markdown'],
    [{ format: 'jpg' }, 'image/png, application/pdf', 'application/json, image/jpeg, text/markdown'],
  ])('answers 406 before capturing %j when Accept is %s', async (options, accept, offered) => {
    const { accepted } = app.service.stats().captures;
    const response = await app.post(
      '/screenshot',
      { url: site.url('/short'), ...options },
      { headers: { Accept: accept } },
    );
    expect(response.status).toBe(406);
    expect(await response.json()).toMatchObject({
      code: 'not_acceptable',
      error: `Accept ${JSON.stringify(accept)} takes none of the types that can be sent: ${offered}.`,
    });
    expect(app.service.stats().captures.accepted).toBe(accepted);
  });

  it('ignores Accept when it answers with a job', async () => {
    const headers = { Accept: 'image/webp', Prefer: 'respond-async' };
    const response = await app.post('/screenshot', { url: site.url('/short') }, { headers });
    expect(response.status).toBe(202);
  });

  it.each([
    ['/404', 404],
    ['/500', 500],
  ])('treats a target that answers %s as a success', async (path, code) => {
    const response = await app.post('/screenshot', { url: site.url(path) });
    expect(response.status).toBe(200);
    expect(await resultIn(response)).toMatchObject({ response_code: code, failed: false });
  });

  it('answers 502 when the target is unreachable, and stores the failed result', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const response = await app.post('/screenshot', { url }, { headers: { Accept: 'image/*' } });
    expect(response.status).toBe(502);
    const { success, code, data } = Envelope.parse(await response.json());
    expect({ success, code }).toEqual({ success: false, code: 'target_unreachable' });
    expect(data).toMatchObject({
      url,
      failed: true,
      failed_code: 'target_unreachable',
      screenshot: '',
      response_code: 0,
    });
    expect(await resultIn(await app.call(`/results/${data?.id}`))).toEqual({ ...data, evidence: NOTHING_NOTED });
    expect((await app.call(`/screenshot/${data?.id}`)).status).toBe(404);
  });

  it('answers 504 when nothing can be captured before the deadline, and stores the failed result', async () => {
    const response = await app.post('/screenshot', { url: site.url('/hang'), timeoutMs: 6_000 });
    expect(response.status).toBe(504);
    const { code, data } = Envelope.parse(await response.json());
    expect(code).toBe('capture_timeout');
    expect(data).toMatchObject({ failed: true, failed_code: 'capture_timeout' });
    expect(await resultIn(await app.call(`/results/${data?.id}`))).toEqual({ ...data, evidence: NOTHING_NOTED });
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,hi',
    'file:///etc/passwd',
    'view-source:https://example.com/',
    'ftp://example.com/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    '2130706434',
  ])('answers 403 for %s', async (url) => {
    const response = await app.post('/screenshot', { url });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      success: false,
      code: 'target_forbidden',
      error: expect.stringMatching(/./),
    });
  });

  it('records a URL without a scheme with the scheme tried last, and finds it by the bare URL', async () => {
    const bare = `127.0.0.1:${await freePort()}/x`;
    const response = await app.post('/screenshot', { url: bare });
    expect(await resultIn(response)).toMatchObject({ url: `http://${bare}`, scheme: 'http' });
    const found = await app.call(`/results/by-url?url=${encodeURIComponent(bare)}`);
    expect(z.object({ data: z.array(ResultSchema) }).parse(await found.json()).data).toMatchObject([
      { url: `http://${bare}` },
    ]);
  });

  it('frees the slots of pipelined requests when the client disconnects, without Node.js warnings', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error) => void warnings.push(warning);
    process.on('warning', hear);
    const { hostname, port } = new URL(app.baseUrl);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ url: site.url('/hang') });
    const headers = `Host: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const head = `POST /screenshot HTTP/1.1\r\n${headers}\r\n\r\n`;
    socket.write((head + body).repeat(20));
    await expect.poll(() => running$(app.service)).toEqual({ running: 4, queued: 16 });
    socket.destroy();
    await expect.poll(() => running$(app.service)).toEqual({ running: 0, queued: 0 });
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });
});

describe('POST /batch', () => {
  const Batch = z.array(
    z.strictObject({
      url: z.string(),
      result: ResultSchema.nullable(),
      error: z.string().nullable(),
      code: z.string().nullable(),
    }),
  );

  it('answers with a bare array in the order of the requests, including failures', async () => {
    const paths = ['/short', '/hang', '/404', '/title?t=x'];
    const requests = [
      ...paths.map((path) => ({ url: site.url(path), ...(path === '/hang' ? { timeoutMs: 500 } : {}) })),
      { url: 'javascript:alert(1)' },
      { url: `http://127.0.0.1:${await freePort()}/` },
    ];
    const response = await app.post('/batch', { requests, concurrency: 3 });
    expect(response.status).toBe(200);
    const items = Batch.parse(await response.json());
    expect(items.map((item) => item.url)).toEqual(requests.map(({ url }) => url));
    expect(items.map((item) => item.code)).toEqual([
      null,
      'capture_timeout',
      null,
      null,
      'target_forbidden',
      'target_unreachable',
    ]);
    expect(items.map((item) => item.error === null)).toEqual([true, false, true, true, false, false]);
    expect(items.map((item) => item.result?.failed)).toEqual([false, true, false, false, undefined, true]);
  });

  it('answers with an empty array for an empty batch', async () => {
    const response = await app.post('/batch', { requests: [] });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([]);
  });

  it.each(['application/json', 'application/x-ndjson'])('emits the events of an empty batch for %s', async (Accept) => {
    const types: string[] = [];
    const subscription = app.service.events$.subscribe(({ type }) => {
      if (type.startsWith('batch.')) types.push(type);
    });
    await (await app.post('/batch', { requests: [] }, { headers: { Accept } })).text();
    subscription.unsubscribe();
    expect(types).toEqual(['batch.accepted', 'batch.completed']);
  });

  it('refuses the whole batch, before capturing anything, for one invalid item', async () => {
    const before = site.hits('/medium');
    const response = await app.post('/batch', {
      requests: [{ url: site.url('/medium') }, { url: site.url('/medium'), quality: 0 }],
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      data: { problems: [{ path: 'requests[1].quality' }] },
    });
    expect(site.hits('/medium')).toBe(before);
  });

  it('refuses a batch longer than --max-batch', async () => {
    const requests = Array.from({ length: 11 }, () => ({ url: site.url('/short') }));
    const response = await app.post('/batch', { requests });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('at most 10'),
    });
  });

  it('accepts a concurrency above that of the service', async () => {
    const response = await app.post('/batch', { requests: [{ url: site.url('/short') }], concurrency: 1_000_000 });
    expect(response.status).toBe(200);
  });
});

describe('a service with one slot and a queue of one', () => {
  const small = serviceForSuite({ maxConcurrent: 1, maxQueue: 1 });
  const hanging = { timeoutMs: 20_000 };

  it('frees slot and queue when clients disconnect, and answers 429 until then', async () => {
    const requested = site.hits('/hang');
    const first = postAndHold(small.baseUrl, '/screenshot', { url: site.url('/hang'), ...hanging });
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    const second = postAndHold(small.baseUrl, '/screenshot', { url: site.url('/hang'), ...hanging });
    await expect.poll(() => running$(small.service)).toEqual({ running: 1, queued: 1 });

    const refused = await small.post('/screenshot', { url: site.url('/short') });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ success: false, code: 'queue_full' });

    second.destroy();
    await expect.poll(() => running$(small.service)).toEqual({ running: 1, queued: 0 });
    first.destroy();
    await expect.poll(() => running$(small.service)).toEqual({ running: 0, queued: 0 });
    expect(small.service.stats().captures.cancelled).toBe(2);
  });

  it('cancels the rest of a batch when its client disconnects', async () => {
    const requested = site.hits('/hang');
    const requests = [{ url: site.url('/hang') }, { url: site.url('/hang') }];
    const sent = postAndHold(small.baseUrl, '/batch', { requests });
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    sent.destroy();
    await expect.poll(() => running$(small.service)).toEqual({ running: 0, queued: 0 });
    expect(site.hits('/hang')).toBe(requested + 1);
  });
});

describe('a stopping service', () => {
  it('answers 503 to running and new captures, and reports that it is not ready', async () => {
    const stopping = await startService();
    try {
      const requested = site.hits('/hang');
      const underWay = stopping.post('/screenshot', { url: site.url('/hang') });
      const batch = stopping.post('/batch', { requests: [{ url: site.url('/hang') }] });
      await expect.poll(() => site.hits('/hang')).toBe(requested + 2);
      const stopped = stopping.service.stop(0);

      for (const answer of [
        underWay,
        stopping.post('/screenshot', { url: site.url('/short') }),
        stopping.call('/readyz'),
      ]) {
        const response = await answer;
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({ success: false, code: 'shutting_down' });
      }
      expect(await (await batch).json()).toMatchObject([{ result: null, code: 'shutting_down' }]);
      expect((await stopping.call('/livez')).status).toBe(200);
      await stopped;
    } finally {
      await stopping.stop();
    }
  });
});

describe('a service without a browser', () => {
  it('answers 503 to captures, reports why it is not ready, and still serves results', async () => {
    const without = await startService(NO_BROWSER);
    try {
      const ready = await without.call('/readyz');
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({ code: 'browser_unavailable', error: expect.stringMatching(/./) });
      const response = await without.post('/screenshot', { url: site.url('/short') });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ success: false, code: 'browser_unavailable' });
      expect((await without.call('/results')).status).toBe(200);
    } finally {
      await without.stop();
    }
  });
});
