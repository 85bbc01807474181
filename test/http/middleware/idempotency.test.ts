import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { failure } from '../../../src/capture/errors.ts';
import type { BatchItem, CaptureOutcome } from '../../../src/capture/outcome.ts';
import type { CaptureService } from '../../../src/service/capture-service.ts';
import { serviceForSuite, siteForSuite } from '../../support/for-suite.ts';
import { serve } from '../../support/serve.ts';
import { NO_BROWSER, startService } from '../../support/service.ts';
import { failureOf } from '../answers.ts';

const site = siteForSuite();
const app = serviceForSuite({ maxConcurrent: 2 });
let keys = 0;

/** Returns a key that no other test uses. */
function freshKey(): { readonly 'Idempotency-Key': string } {
  return { 'Idempotency-Key': `key "${++keys}"` };
}

async function answerOf(response: Response) {
  const { status, headers } = response;
  const kept = ['content-type', 'location', 'x-capture-id', 'etag'].map((name) => headers.get(name));
  return { status, kept, body: await response.text() };
}

const accepted = () => app.service.stats().captures.accepted;

describe('Idempotency-Key', () => {
  it.each([
    ['the result', 'application/json'],
    ['the image', 'image/png'],
    ['the Markdown', 'text/markdown'],
  ])('returns the first answer to the same key and body: %s', async (_what, accept) => {
    const headers = { ...freshKey(), Accept: accept };
    const body = { url: site.url('/short') };
    const first = await app.post('/screenshot', body, { headers });
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    const answer = await answerOf(first);
    expect(answer.status).toBe(200);

    const before = accepted();
    const again = await app.post('/screenshot', body, { headers });
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await answerOf(again)).toEqual(answer);
    expect(accepted()).toBe(before);
  });

  it('takes a body whose fields are in another order for the same one, and a list in another order for another', async () => {
    const headers = freshKey();
    const hide = ['p', 'i'];
    const body = { url: site.url('/short'), viewport: { width: 300, height: 200 }, hide };
    const answer = await answerOf(await app.post('/screenshot', body, { headers }));
    expect(answer.status).toBe(200);
    const turned = { hide, viewport: { height: 200, width: 300 }, url: body.url };
    expect(await answerOf(await app.post('/screenshot', turned, { headers }))).toEqual(answer);
    const other = await app.post('/screenshot', { ...body, hide: hide.toReversed() }, { headers });
    expect(await failureOf(other)).toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('refuses a body that is nested as deeply as its size allows, and does not fail', async () => {
    const body = '['.repeat(250_000) + ']'.repeat(250_000);
    const headers = { ...freshKey(), 'Content-Type': 'application/json' };
    const response = await app.call('/screenshot', { method: 'POST', headers, body });
    expect(await failureOf(response)).toMatchObject({ code: 'invalid_request' });
  });

  it('replays the header that marks a cached capture', async () => {
    const body = { url: site.url('/short'), cacheMaxAgeMs: 60_000 };
    await app.post('/screenshot', body);
    const headers = freshKey();
    const first = await app.post('/screenshot', body, { headers });
    const again = await app.post('/screenshot', body, { headers });
    expect([first, again].map((response) => response.headers.get('X-Capture-Cached'))).toEqual(['true', 'true']);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  });

  it('replays a batch as an array and as lines, including failures', async () => {
    const body = { requests: [{ url: site.url('/short') }, { url: 'file:///x' }] };
    for (const accept of ['application/json', 'application/x-ndjson']) {
      const headers = { ...freshKey(), Accept: accept };
      const answer = await answerOf(await app.post('/batch', body, { headers }));
      expect(answer.kept[0]).toContain(accept);
      const before = accepted();
      const again = await app.post('/batch', body, { headers });
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(await answerOf(again)).toEqual(answer);
      expect(accepted()).toBe(before);
    }
  });

  it('replays a failure of the target', async () => {
    const headers = freshKey();
    const body = { url: site.url('/hang'), timeoutMs: 300 };
    const answer = await answerOf(await app.post('/screenshot', body, { headers }));
    expect(answer.status).toBe(504);
    const again = await app.post('/screenshot', body, { headers });
    expect([again.headers.get('Idempotent-Replayed'), await answerOf(again)]).toEqual(['true', answer]);
  });

  it('answers 422 to the same key with another body', async () => {
    const headers = freshKey();
    await app.post('/batch', { requests: [] }, { headers });
    const other = await app.post('/batch', { requests: [], concurrency: 1 }, { headers });
    expect([other.status, (await failureOf(other)).code]).toEqual([422, 'idempotency_mismatch']);
  });

  it('answers 409 while the first request runs, and accepts the key again after the client disconnected', async () => {
    const headers = freshKey();
    const body = { url: site.url('/hang') };
    const requested = site.hits('/hang');
    const hangUp = new AbortController();
    const first = app.post('/screenshot', body, { headers, signal: hangUp.signal }).catch(() => undefined);
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    const second = await app.post('/screenshot', body, { headers });
    expect(second.status).toBe(409);
    expect(Number(second.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await failureOf(second)).code).toBe('idempotency_in_flight');
    expect((await app.post('/screenshot', { url: site.url('/short') }, { headers })).status).toBe(422);

    hangUp.abort();
    await first;
    await expect.poll(() => app.service.stats().captures.inside).toBe(0);
    const again = app.post('/screenshot', { url: site.url('/short') }, { headers });
    expect((await again).status).toBe(200);
  });

  it('forgets the key when the client disconnects during an answer of lines', async () => {
    const headers = { ...freshKey(), Accept: 'application/x-ndjson' };
    const body = { requests: [{ url: 'file:///x' }, { url: site.url('/hang') }] };
    const hangUp = new AbortController();
    const first = await app.post('/batch', body, { headers, signal: hangUp.signal });
    await first.body?.getReader().read();
    hangUp.abort();
    await expect.poll(() => app.service.stats().captures.inside).toBe(0);
    const other = { requests: [{ url: 'file:///y' }] };
    expect(await (await app.post('/batch', other, { headers })).text()).toMatch(/^\{"index":0,"url":"file:\/\/\/y"/);
  });

  it.each<[string, CaptureOutcome, string]>([
    ['was cancelled by a stop', { state: 'cancelled', failure: failure('cancelled') }, '"shutting_down"'],
    [
      'was not begun in time',
      { state: 'timed_out', failure: failure('capture_timeout'), result: null },
      '"capture_timeout"',
    ],
  ])('forgets the key of a batch that %s, as an array and as lines', async (_what, outcome, code) => {
    const cut: BatchItem = { index: 0, url: 'https://example.com/', outcome };
    const stopping: CaptureService = Object.create(app.service, { submitBatch: { value: () => of(cut) } });
    const ending = await serve(stopping);
    try {
      for (const accept of ['application/json', 'application/x-ndjson']) {
        const headers = { ...freshKey(), Accept: accept };
        const body = { requests: [{ url: 'file:///x' }] };
        expect(await (await ending.post('/batch', body, { headers })).text()).toContain(code);
        const again = await app.post('/batch', body, { headers });
        expect(again.headers.get('Idempotent-Replayed')).toBeNull();
        expect(await again.text()).toContain('"target_forbidden"');
      }
    } finally {
      await ending.close();
    }
  });

  it('answers 503 while the database is unavailable', async () => {
    const away = await startService(NO_BROWSER);
    try {
      await away.loseDatabase();
      const response = await away.post('/batch', { requests: [] }, { headers: freshKey() });
      expect(response.status).toBe(503);
      expect((await failureOf(response)).code).toBe('database_unavailable');
    } finally {
      await away.stop();
    }
  });

  it('keeps keys of different paths and API keys apart', async () => {
    const headers = freshKey();
    const keyed = await serve(app.service, { apiKey: ['one', 'other'] });
    try {
      const post = (key: string, requests: unknown[]) =>
        keyed.post('/batch', { requests }, { headers: { ...headers, 'X-API-Key': key } });
      expect((await post('one', [])).status).toBe(200);
      expect((await post('one', [{ url: 'file:///x' }])).status).toBe(422);
      expect((await post('other', [{ url: 'file:///x' }])).status).toBe(200);
      expect((await app.post('/batch', { requests: [{}] }, { headers })).status).toBe(400);
      expect((await app.post('/screenshot', { url: 'file:///x' }, { headers })).status).toBe(403);
    } finally {
      await keyed.close();
    }
  });

  it('refuses a repeated header', async () => {
    const sent = request(`${app.baseUrl}/screenshot`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': ['one', 'two'] },
    });
    sent.end(JSON.stringify({ url: site.url('/short') }));
    const response: IncomingMessage = (await once(sent, 'response'))[0];
    expect(response.statusCode).toBe(400);
    expect(await json(response)).toMatchObject({ data: { problems: [{ path: 'Idempotency-Key' }] } });
  });

  it.each(['', 'x'.repeat(256), 'ü'])('refuses the key %j', async (key) => {
    const response = await app.post('/batch', { requests: [] }, { headers: { 'Idempotency-Key': key } });
    expect(response.status).toBe(400);
    expect(await failureOf(response)).toMatchObject({ data: { problems: [{ path: 'Idempotency-Key' }] } });
  });

  it('refuses a key with a body of lines', async () => {
    const headers = { ...freshKey(), 'Content-Type': 'application/x-ndjson' };
    const response = await app.call('/batch', { method: 'POST', headers, body: '' });
    expect(response.status).toBe(400);
    expect(await failureOf(response)).toMatchObject({ data: { problems: [{ path: 'Idempotency-Key' }] } });
  });

  it('forgets the key of a refused request, with and without a database', async () => {
    for (const database of [{}, { dbPath: null }]) {
      const without = await startService({ ...NO_BROWSER, ...database });
      try {
        const headers = freshKey();
        const body = { url: site.url('/short') };
        for (const _attempt of [1, 2]) {
          const response = await without.post('/screenshot', body, { headers });
          expect([response.status, response.headers.get('Idempotent-Replayed')]).toEqual([503, null]);
        }
        await without.post('/batch', { requests: [] }, { headers });
        const again = await without.post('/batch', { requests: [] }, { headers });
        expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      } finally {
        await without.stop();
      }
    }
  });
});
