import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listening } from '../egress/listening.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const Answer = z.object({ data: z.object({ id: z.number(), cached: z.boolean() }) });

describe('cacheMaxAgeMs', () => {
  const site = siteForSuite();
  const app = serviceForSuite();

  const post = (path: string, body: unknown, accept = 'application/json') =>
    app.post(path, body, { headers: { Accept: accept } });
  const shoot = async (request: Readonly<Record<string, unknown>>) =>
    Answer.parse(await (await post('/screenshot', request)).json()).data;

  it('returns the stored capture of the same URL and options, marked as cached, and no other', async () => {
    const url = site.url('/short?stored');
    const first = await shoot({ url });
    expect(first.cached).toBe(false);
    expect(await shoot({ url, cacheMaxAgeMs: 60_000 })).toEqual({ id: first.id, cached: true });
    // Neither the timeout nor the maximum age is part of the digest of options.
    expect(await shoot({ url, cacheMaxAgeMs: 90_000, timeoutMs: 9000 })).toEqual({ id: first.id, cached: true });
    expect(site.requests.filter((request) => request.url === '/short?stored')).toHaveLength(1);

    for (const other of [
      { url },
      { url, cacheMaxAgeMs: 0 },
      { url, cacheMaxAgeMs: 60_000, fullPage: true },
      { url: `${url}#fragment`, cacheMaxAgeMs: 60_000 },
    ]) {
      expect(await shoot(other)).toMatchObject({ cached: false });
    }
  });

  it.concurrent('never reuses captures made with secrets, and stores no digest of their options', async () => {
    const url = site.url('/short?secrets');
    for (const secret of [
      { headers: { Authorization: 'Basic YTpi' } },
      { cookies: [{ name: 'session', value: '1' }] },
      { httpCredentials: { username: 'a', password: 'b' } },
      { actions: [{ type: 'press', key: 'x' }] },
      { javascript: { after: '0' } },
    ]) {
      const request = { url, cacheMaxAgeMs: 60_000, ...secret };
      expect([await shoot(request), await shoot(request)]).toMatchObject([{ cached: false }, { cached: false }]);
    }
    const listed = await (await app.call(`/results/by-url?url=${encodeURIComponent(url)}`)).json();
    const Listed = z.object({ data: z.array(z.object({ options_digest: z.literal('') })).length(10) });
    expect(() => Listed.parse(listed)).not.toThrow();
  });

  it.concurrent('returns the stored image with its capture id', async () => {
    const url = site.url('/short?image');
    const { id } = await shoot({ url });
    const answer = await post('/screenshot', { url, cacheMaxAgeMs: 60_000 }, 'image/png');
    expect(answer.headers.get('Content-Type')).toBe('image/png');
    expect(answer.headers.get('X-Capture-Id')).toBe(String(id));
    expect(answer.headers.get('X-Capture-Cached')).toBe('true');
  });

  it.concurrent('never reuses failed or partial captures', async () => {
    const broken = site.url('/empty-response');
    const unfinished = site.url('/never');
    for (const request of [
      { url: broken, cacheMaxAgeMs: 60_000 },
      { url: unfinished, cacheMaxAgeMs: 60_000, timeoutMs: 15_000 },
    ]) {
      const [first, second] = [await (await post('/screenshot', request)).json(), await shoot(request)];
      expect(second).toMatchObject({ cached: false });
      expect(second.id).not.toBe(Answer.parse(first).data.id);
    }
  });

  it.concurrent('never reuses a document that broke off', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n';
    await using breaking = await listening(
      createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(`${head}<title>Half</title><p>The beginning`));
      }),
    );
    const request = { url: `http://127.0.0.1:${breaking.port}/`, cacheMaxAgeMs: 60_000 };
    expect([await shoot(request), await shoot(request)]).toMatchObject([{ cached: false }, { cached: false }]);
  });

  it('shares one page among equal captures in progress, also within a batch', async () => {
    const request = { url: site.url('/slow?ms=500&shared'), cacheMaxAgeMs: 60_000 };
    const [single, batch] = await Promise.all([
      shoot(request),
      post('/batch', { requests: [request, request] }).then((answer) => answer.json()),
    ]);
    expect(batch).toMatchObject([{ result: { id: single.id } }, { result: { id: single.id } }]);
    expect(site.requests.filter(({ url }) => url.endsWith('&shared'))).toHaveLength(1);
    expect(app.service.stats().captures.reused).toBeGreaterThanOrEqual(2);
  });

  it.each([-1, 0.5, '1 hour', 3_000_000_000_000])('refuses %j', async (cacheMaxAgeMs) => {
    const answer = await post('/screenshot', { url: site.url('/short'), cacheMaxAgeMs });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      data: { problems: [{ path: 'cacheMaxAgeMs', message: expect.stringMatching(/milliseconds from 0 to/) }] },
    });
  });
});
