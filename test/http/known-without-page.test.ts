import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listening } from '../egress/listening.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { startNameServer } from '../support/name-server.ts';
import { startService } from '../support/service.ts';

const Answer = z.object({ code: z.string(), error: z.string(), data: z.object({ id: z.number() }).optional() });
const Recorded = z.object({
  data: z.object({
    response_code: z.number(),
    evidence: z.looseObject({
      tls: z.looseObject({ subject: z.string(), names: z.array(z.string()), fingerprint: z.string() }).nullish(),
      headers: z.object({ items: z.array(z.object({ name: z.string(), value: z.string() })) }).optional(),
    }),
  }),
});

const TLS = { cert: CERTIFICATE, key: KEY };
const KEPT = { subject: 'hooks.test', names: ['hooks.test'], fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) };

describe('a target without a page', () => {
  const app = serviceForSuite({ maxConcurrent: 2 });

  async function recorded(url: string, timeoutMs = 20_000) {
    const evidence = ['headers', 'tls'];
    const answer = Answer.parse(await (await app.post('/screenshot', { url, timeoutMs, evidence })).json());
    const { data } = Recorded.parse(await (await app.call(`/results/${answer.data?.id}`)).json());
    return { ...answer, ...data };
  }

  it('has its certificate in the record when it closes the connection after the handshake', async () => {
    await using target = await listening(createTlsServer(TLS, (socket) => socket.destroy()));
    const { code, evidence } = await recorded(`https://127.0.0.1:${target.port}/`);
    expect(code).toBe('target_unreachable');
    expect(evidence.tls).toMatchObject(KEPT);
  });

  it('has its certificate when it does not answer after the handshake', async () => {
    await using target = await listening(createTlsServer(TLS, () => {}));
    const { code, evidence } = await recorded(`https://127.0.0.1:${target.port}/`, 2_000);
    expect(['capture_timeout', 'target_unreachable']).toContain(code);
    expect(evidence.tls).toMatchObject(KEPT);
  });

  it('has its certificate when that is not trusted', async () => {
    await using target = await listening(createHttpsServer(TLS, (_request, response) => response.end('here')));
    const { code, error, evidence } = await recorded(`https://127.0.0.1:${target.port}/`);
    expect([code, error]).toEqual(['target_unreachable', expect.stringContaining('certificate')]);
    expect(evidence.tls).toMatchObject(KEPT);
  });

  it('has none when it speaks HTTP on the port of TLS, or resets the connection', async () => {
    await using plain = await listening(createServer((_request, response) => response.end('here')));
    const { code, evidence } = await recorded(`https://127.0.0.1:${plain.port}/`);
    expect([code, evidence.tls]).toEqual(['target_unreachable', null]);
    await using resetting = await listening(createTcpServer((socket) => socket.resetAndDestroy()));
    const reset = await recorded(`https://127.0.0.1:${resetting.port}/`);
    expect([reset.code, reset.evidence.tls ?? null]).toEqual(['target_unreachable', null]);
  });

  it.each([
    ['a file', { 'Content-Type': 'application/zip', 'X-Kept': 'yes' }, 200, 'PK'],
    ['no content', { 'X-Kept': 'yes' }, 204, ''],
  ] as const)('has the status and the headers of an answer with %s', async (_, headers, status, body) => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
    await using target = await listening(server);
    const { code, response_code, evidence } = await recorded(`http://127.0.0.1:${target.port}/`);
    expect([code, response_code]).toEqual(['not_a_page', status]);
    expect(evidence.headers?.items).toContainEqual({ name: 'X-Kept', value: 'yes' });
  });
});

describe('a target whose name is resolved late', () => {
  it('holds no slot meanwhile, and is captured then', async () => {
    await using site = await listening(createServer((_request, response) => response.end('<p>here')));
    const { promise: when, resolve: answerName } = Promise.withResolvers<void>();
    await using nameServer = await startNameServer(() => ({ cname: 'a.example', addresses: ['127.0.0.1'], when }));
    const running = await startService({ maxConcurrent: 1, nameServers: [nameServer.address] });
    try {
      const capturing = running.post('/screenshot', { url: `http://late.example:${site.port}/` });
      await expect.poll(() => nameServer.asked).toContain('late.example');
      expect((await running.post('/screenshot', { url: `http://127.0.0.1:${site.port}/` })).status).toBe(200);
      answerName();
      expect((await capturing).status).toBe(200);
    } finally {
      await running.stop();
    }
  });
});
