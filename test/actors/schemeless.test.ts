import { createServer as createTlsServer } from 'node:https';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { requestSchemas } from '../../src/capture/request.ts';
import { listening } from '../egress/listening.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { failureOf, patience } from '../support/actor.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

/** First byte of a TLS handshake. */
const TLS_HANDSHAKE = 0x16;

describe('a URL without a scheme', () => {
  const { screenshot } = requestSchemas({ maxBatch: 1, timeoutMs: 60_000, maxTimeoutMs: 60_000 });
  const ground = siteAndActor();
  const service = serviceForSuite();

  const capture = (url: string, overrides: object = {}) =>
    ground.running.actor.capture(screenshot.parse({ ...IN_FEW_PIXELS, ...overrides, url }), patience);

  it('tries http at the same port when the server does not speak TLS', async () => {
    expect(await capture(`127.0.0.1:${ground.site.port}/short`)).toMatchObject({
      finalUrl: ground.site.url('/short'),
      responseCode: 200,
      cutPhase: null,
    });
  });

  it('sends cookies over https only, also when it tries http', async () => {
    const cookies = [{ name: 'session', value: '1' }];
    // Browsers trust loopback and send it secure cookies over http too, so the browser's cookie store is checked.
    const isSecure = async (url: string) => {
      const { evidence } = await capture(url, { cookies });
      return evidence.cookies.items.find(({ name }) => name === 'session')?.secure;
    };
    expect(await isSecure(`127.0.0.1:${ground.site.port}/cookie`)).toBe(true);
    expect(await isSecure(ground.site.url('/cookie'))).toBe(false);
  });

  it.each([
    ['hangs up', (socket: { destroy(): void }) => socket.destroy()],
    ['says nothing', () => {}],
  ])('tries http when a server %s after the start of a TLS handshake', async (_, answerTls) => {
    const front = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (first) => {
        if (first[0] === TLS_HANDSHAKE) return answerTls(socket);
        const behind = connect(ground.site.port, ground.site.host, () => behind.write(first));
        behind.on('error', () => socket.destroy());
        behind.pipe(socket);
        socket.pipe(behind);
      });
    });
    await using target = await listening(front);
    // Half of the time is for https.
    const { finalUrl, cutPhase } = await capture(`127.0.0.1:${target.port}/short`, { timeoutMs: 24_000 });
    expect(finalUrl).toBe(`http://127.0.0.1:${target.port}/short`);
    expect(cutPhase).toBeNull();
  });

  it('does not try http when the server answers over https', async () => {
    const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (_request, response) =>
      response.end('<h1>Hi</h1>'),
    );
    await using target = await listening(server);
    const { finalUrl } = await capture(`127.0.0.1:${target.port}/`, { ignoreCertErrors: true });
    expect(finalUrl).toBe(`https://127.0.0.1:${target.port}/`);
  });

  it('does not try http when the certificate is invalid', async () => {
    const server = createTlsServer({ key: KEY, cert: CERTIFICATE });
    await using target = await listening(server);
    const error = await failureOf(capture(`127.0.0.1:${target.port}/`));
    expect(error.code).toBe('target_unreachable');
    expect(error.message).toMatch(/^https:.*certificate/);
    expect(error.message).not.toContain('over http');
  });

  it('reports both failures when nothing listens', async () => {
    const port = await freePort();
    const error = await failureOf(capture(`127.0.0.1:${port}`));
    expect(error.code).toBe('target_unreachable');
    expect(error.message).toMatch(/refused.*; over http: .*refused/);
  });

  it('reports a download over http', async () => {
    expect((await failureOf(capture(`127.0.0.1:${ground.site.port}/download`))).code).toBe('not_a_page');
  });

  it('records the URL as it was fetched', async () => {
    const response = await service.post('/screenshot', { url: `127.0.0.1:${ground.site.port}/short` });
    expect(await response.json()).toMatchObject({
      data: {
        url: ground.site.url('/short'),
        scheme: 'http',
        port: ground.site.port,
        final_url: ground.site.url('/short'),
        remote_ip: '127.0.0.1',
      },
    });
  });

  it('records a failed capture with the URL that was fetched last', async () => {
    const port = await freePort();
    const response = await service.post('/screenshot', { url: `127.0.0.1:${port}/` });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      data: { url: `http://127.0.0.1:${port}/`, scheme: 'http', port, failed: true },
    });
  });

  it('never tries http when a scheme was given', async () => {
    const error = await failureOf(capture(`https://127.0.0.1:${ground.site.port}/short?scheme`));
    expect(error.message).toContain('does not speak TLS');
    expect(ground.site.requests.filter(({ url }) => url === '/short?scheme')).toEqual([]);
  });
});
