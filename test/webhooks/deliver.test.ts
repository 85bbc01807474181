import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Egress } from '../../src/egress/egress.ts';
import { type Delivery, type DeliveryOptions, deliver } from '../../src/webhooks/deliver.ts';
import { readSecret } from '../../src/webhooks/signature.ts';
import { CERTIFICATE, KEY } from './certificate.ts';
import { type Received, receiverEgress, SECRET, startReceiver, statuses } from './receiver.ts';

const NAMES = { 'hooks.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'], 'inside.test': ['10.0.0.1'] };
const NEVER = new AbortController().signal;
let egress: Egress;

beforeAll(() => {
  egress = receiverEgress(NAMES);
});
afterAll(() => egress.close());

function send(url: string, options: Partial<DeliveryOptions> = {}, signal = NEVER): Promise<Delivery> {
  const message = { id: 'msg_1', url: new URL(url), body: '{"v":1,"type":"capture.stored"}' };
  const quick = { retries: 2, retryDelayMs: 2, timeoutMs: 5_000 };
  return deliver(
    message,
    { agents: egress.agents, keys: () => [readSecret(SECRET)], clock: Date.now, ...quick, ...options },
    signal,
  );
}

/** Verifies a signature as the specification says, with Web Crypto instead of Node's crypto. */
async function verify({ headers, body }: Received): Promise<boolean> {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const raw = Uint8Array.from(atob(SECRET.slice('whsec_'.length)), (character) => character.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
  const signed = Uint8Array.from(atob(String(signature).slice('v1,'.length)), (character) => character.charCodeAt(0));
  return crypto.subtle.verify('HMAC', key, signed, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
}

describe('the delivery of a webhook', () => {
  it('posts JSON with a valid signature', async () => {
    await using receiver = await startReceiver();
    expect(await send(receiver.url)).toEqual({ delivered: true, status: 204, attempts: 1 });
    const [message, ...rest] = receiver.received;
    expect(rest).toEqual([]);
    expect(message).toMatchObject({
      body: '{"v":1,"type":"capture.stored"}',
      headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
    });
    expect(message && (await verify(message))).toBe(true);
  });

  it('retries after a temporary refusal, with the same message id and a new signature', async () => {
    await using receiver = await startReceiver(statuses(500, 429, 200));
    let now = 1_800_000_000_000;
    const clock = () => {
      now += 10_000;
      return now;
    };
    expect(await send(receiver.url, { clock })).toEqual({ delivered: true, status: 200, attempts: 3 });
    const heads = receiver.received.map(({ headers }) => headers);
    expect(new Set(heads.map((head) => head['webhook-id']))).toEqual(new Set(['msg_1']));
    expect(heads.map((head) => head['webhook-timestamp'])).toEqual(['1800000010', '1800000020', '1800000030']);
    expect(await Promise.all(receiver.received.map(verify))).toEqual([true, true, true]);
  });

  it('gives up after the maximum number of attempts', async () => {
    await using receiver = await startReceiver(statuses(503));
    expect(await send(receiver.url)).toEqual({
      ...{ delivered: false, cause: 'unreachable', reason: 'the receiver answered 503', status: 503, attempts: 3 },
    });
    expect(receiver.received).toHaveLength(3);
  });

  it('reaches a receiver that is started between two attempts', async () => {
    await using before = await startReceiver();
    const port = Number(new URL(before.url).port);
    await before[Symbol.asyncDispose]();
    let attempts = 0;
    const clock = () => {
      attempts += 1;
      return Date.now();
    };
    const sent = send(before.url, { retries: 60, retryDelayMs: 5, clock });
    await expect.poll(() => attempts, { interval: 5 }).toBeGreaterThan(1);
    await using _after = await startReceiver(undefined, { port });
    expect(await sent).toMatchObject({ delivered: true, status: 204 });
  });

  it('reports a refused connection', async () => {
    await using receiver = await startReceiver();
    await receiver[Symbol.asyncDispose]();
    const { host } = new URL(receiver.url);
    expect(await send(receiver.url)).toEqual({
      ...{ delivered: false, cause: 'unreachable', reason: `connection refused by ${host}`, status: null, attempts: 3 },
    });
  });

  it.each([400, 401, 404, 410])('does not retry after %i', async (status) => {
    await using receiver = await startReceiver(statuses(status));
    expect(await send(receiver.url)).toMatchObject({ delivered: false, cause: 'refused', status, attempts: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  it('does not follow a redirect', async () => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver(
      (response) => void response.writeHead(307, { Location: elsewhere.url }).end(),
    );
    expect(await send(receiver.url)).toMatchObject({ delivered: false, cause: 'refused', status: 307, attempts: 1 });
    expect(elsewhere.received).toEqual([]);
  });

  it('respects Retry-After, and gives up when that is too late', async () => {
    await using receiver = await startReceiver((response, n) =>
      n === 0 ? void response.writeHead(503, { 'Retry-After': '1' }).end() : void response.writeHead(200).end(),
    );
    const began = performance.now();
    expect(await send(receiver.url)).toMatchObject({ delivered: true, attempts: 2 });
    expect(performance.now() - began).toBeGreaterThan(990);
    await using busy = await startReceiver((response) => void response.writeHead(429, { 'Retry-After': '2' }).end());
    expect(await send(busy.url, { maxRetryAfterMs: 1_000 })).toMatchObject({
      ...{ delivered: false, cause: 'unreachable', status: 429, attempts: 1 },
    });
  });

  it('retries when a receiver does not answer in time', async () => {
    await using receiver = await startReceiver((response, n) => void (n > 0 && response.writeHead(200).end()));
    expect(await send(receiver.url, { timeoutMs: 2_000 })).toMatchObject({ delivered: true, attempts: 2 });
  });

  it('reads only the beginning of an answer, and accepts a 2xx whose body never ends', async () => {
    let sent = 0;
    await using receiver = await startReceiver((response) => {
      const chunk = Buffer.alloc(16 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        response.once('drain', more);
      };
      response.writeHead(200);
      more();
    });
    expect(await send(receiver.url)).toEqual({ delivered: true, status: 200, attempts: 1 });
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    await using drip = await startReceiver((response) => void response.writeHead(200).write('a'));
    expect(await send(drip.url, { timeoutMs: 2_000 })).toEqual({ delivered: true, status: 200, attempts: 1 });
  });

  it('dials the address that was checked', async () => {
    await using receiver = await startReceiver();
    const url = receiver.url.replace('127.0.0.1', 'hooks.test');
    expect(await send(url)).toMatchObject({ delivered: true });
    expect(receiver.received[0]?.headers.host).toBe(new URL(url).host);
  });

  it.each(['http://10.0.0.1/', 'http://inside.test/', 'https://inside.test/', 'http://localhost.:25/'])(
    'never dials %s, and does not retry',
    async (url) => {
      expect(await send(url)).toMatchObject({ delivered: false, cause: 'forbidden', status: null, attempts: 1 });
    },
  );

  it('sends nothing to a receiver without a certificate for its name, and does not retry', async () => {
    const tls = { key: KEY, cert: CERTIFICATE };
    await using receiver = await startReceiver(undefined, { tls });
    const at = (name: string) => receiver.url.replace('127.0.0.1', name);
    const refused = { delivered: false, cause: 'unreachable', status: null, attempts: 1 };
    expect(await send(at('hooks.test'))).toMatchObject({ ...refused, reason: expect.stringContaining('self-signed') });
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, CERTIFICATE]);
    try {
      expect(await send(at('other.test'))).toMatchObject({ ...refused, reason: expect.stringContaining('other.test') });
      expect(receiver.received).toEqual([]);
      expect(await send(at('hooks.test'))).toMatchObject({ delivered: true });
      expect(receiver.received).toHaveLength(1);
    } finally {
      setDefaultCACertificates(trusted);
    }
  });

  it('ends at once when the service stops, also between two attempts', async () => {
    const asked = Promise.withResolvers<void>();
    await using receiver = await startReceiver((response) => {
      response.writeHead(500).end(() => asked.resolve());
    });
    const stop = new AbortController();
    const sent = send(receiver.url, { retryDelayMs: 3_600_000 }, stop.signal);
    await asked.promise;
    stop.abort();
    expect(await sent).toMatchObject({ delivered: false, cause: 'shutting_down', attempts: 1 });
  });
});
