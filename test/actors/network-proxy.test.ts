import { createServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { failureOf, patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';
import { startProxy } from '../support/proxy.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const CREDENTIALS = { username: 'harbour', password: 'master:key' };
/** Names that only the proxy resolves. */
const names = { 'far.test': '127.0.0.1' };

describe('a capture through a proxy', () => {
  const site = siteForSuite();
  let secure: Listening;
  beforeAll(async () => {
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Over TLS</title>');
    });
    secure = await listening(server);
  });
  afterAll(() => secure?.[Symbol.asyncDispose]());
  const running = actorForSuite();

  const capture = (url: string, overrides: CaptureOptions): Promise<Snapshot> =>
    running.actor.capture(captureRequest(url, { ...IN_FEW_PIXELS, ...overrides }), patience);

  it('reaches targets that only the proxy resolves, by http and by https', async () => {
    await using running = await startProxy({ credentials: 'harbour:master:key', names });
    const proxy = { server: `http://127.0.0.1:${running.port}`, credentials: CREDENTIALS };
    const plain = await capture(`http://far.test:${site.port}/short`, { proxy });
    expect(plain).toMatchObject({ title: expect.stringContaining('A small port'), remoteIp: null });
    const tunnelled = await capture(`https://far.test:${secure.port}/`, { proxy, ignoreCertErrors: true });
    expect(tunnelled).toMatchObject({ title: 'Over TLS', remoteIp: null });
    expect(running.asked.map(({ what }) => what)).toContain(`CONNECT far.test:${secure.port}`);
  });

  it.each(['http', 'https'])('fails when the proxy fails, and never connects directly, by %s', async (scheme) => {
    await using running = await startProxy({ credentials: 'some:body' });
    const proxy = { server: `http://127.0.0.1:${running.port}`, credentials: CREDENTIALS };
    const path = '/title?t=direct';
    const failed = await failureOf(capture(`${scheme}://127.0.0.1:${site.port}${path}`, { proxy }));
    expect(failed.code).toBe('proxy_failed');
    expect(failed.message).toContain('does not accept the credentials');
    expect(failed.message).not.toMatch(/harbour|master/);
    expect(running.asked.length).toBeGreaterThan(0);
    expect(site.requests.filter(({ url }) => url === path)).toEqual([]);
  });

  it('does not use the proxy for the next capture', async () => {
    await using running = await startProxy();
    await capture(site.url('/short'), { proxy: { server: `http://127.0.0.1:${running.port}` } });
    const before = running.asked.length;
    expect(before).toBeGreaterThan(0);
    for (let captures = 0; captures < 4; captures += 1) await capture(site.url('/short'), {});
    expect(running.asked).toHaveLength(before);
  });
});
