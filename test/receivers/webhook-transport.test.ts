import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Egress } from '../../src/egress/egress.ts';
import type { Attempt } from '../../src/receivers/transport.ts';
import { readSecret } from '../../src/receivers/transports/signature.ts';
import { type WebhookOptions, webhookTransport } from '../../src/receivers/transports/webhook.ts';
import { CERTIFICATE, KEY } from './certificate.ts';
import { NEVER } from './example-notice.ts';
import { type Received, receiverEgress, SECRET, startReceiver, statuses } from './receiver.ts';

const NAMES = { 'hooks.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'], 'inside.test': ['10.0.0.1'] };
let egress: Egress;

beforeAll(() => {
  egress = receiverEgress(NAMES);
});
afterAll(() => egress.close());

function send(url: string, options: Partial<WebhookOptions> = {}, signal = NEVER): Promise<Attempt> {
  const parts = { agents: egress.agents, keys: () => [readSecret(SECRET)], clock: Date.now, timeoutMs: 5_000 };
  const transport = webhookTransport({ url: new URL(url), ...parts, ...options });
  const notice = () => Promise.reject(new Error('webhooks send events as they are'));
  return transport({ id: 'msg_1', body: '{"v":1,"type":"capture.stored"}', notice }, signal);
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

describe('the webhook transport', () => {
  it('posts JSON with a valid signature', async () => {
    await using receiver = await startReceiver();
    expect(await send(receiver.url)).toEqual({ end: 'delivered', status: 204 });
    const [message, ...rest] = receiver.received;
    expect(rest).toEqual([]);
    expect(message).toMatchObject({
      body: '{"v":1,"type":"capture.stored"}',
      headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
    });
    expect(message && (await verify(message))).toBe(true);
  });

  it('signs each attempt with the time of the attempt', async () => {
    await using receiver = await startReceiver(statuses(500, 200));
    for (const now of [1_800_000_010_000, 1_800_000_020_000]) await send(receiver.url, { clock: () => now });
    const heads = receiver.received.map(({ headers }) => headers);
    expect(heads.map((head) => head['webhook-timestamp'])).toEqual(['1800000010', '1800000020']);
    expect(await Promise.all(receiver.received.map(verify))).toEqual([true, true]);
  });

  it.each([408, 425, 429, 500, 503])('is to be tried again after %i', async (status) => {
    await using receiver = await startReceiver(statuses(status));
    const reason = `the receiver answered ${status}`;
    expect(await send(receiver.url)).toEqual({ end: 'again', reason, status, afterMs: null });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([400, 401, 404, 410])('is refused by %i', async (status) => {
    await using receiver = await startReceiver(statuses(status));
    expect(await send(receiver.url)).toMatchObject({ end: 'refused', status });
  });

  it('says how long a receiver asks to wait, in seconds or until a date', async () => {
    const clock = () => 1_800_000_000_000;
    const busy = (after: string) =>
      startReceiver((response) => void response.writeHead(429, { 'Retry-After': after }).end());
    await using seconds = await busy('7');
    await using date = await busy(new Date(clock() + 90_000).toUTCString());
    await using nonsense = await busy('later');
    expect(await send(seconds.url, { clock })).toMatchObject({ end: 'again', afterMs: 7_000 });
    expect(await send(date.url, { clock })).toMatchObject({ end: 'again', afterMs: 90_000 });
    expect(await send(nonsense.url, { clock })).toMatchObject({ end: 'again', afterMs: null });
  });

  it('reports a refused connection', async () => {
    await using receiver = await startReceiver();
    await receiver[Symbol.asyncDispose]();
    const reason = `connection refused by ${new URL(receiver.url).host}`;
    expect(await send(receiver.url)).toEqual({ end: 'again', reason, status: null, afterMs: null });
  });

  it('does not follow a redirect', async () => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver(
      (response) => void response.writeHead(307, { Location: elsewhere.url }).end(),
    );
    expect(await send(receiver.url)).toMatchObject({ end: 'refused', status: 307 });
    expect(elsewhere.received).toEqual([]);
  });

  it('is to be tried again when a receiver does not answer in time', async () => {
    await using receiver = await startReceiver(() => undefined);
    expect(await send(receiver.url, { timeoutMs: 200 })).toMatchObject({
      end: 'again',
      reason: 'no answer in time',
    });
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
    expect(await send(receiver.url)).toEqual({ end: 'delivered', status: 200 });
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    await using drip = await startReceiver((response) => void response.writeHead(200).write('a'));
    expect(await send(drip.url, { timeoutMs: 2_000 })).toEqual({ end: 'delivered', status: 200 });
  });

  it('dials the address that was checked', async () => {
    await using receiver = await startReceiver();
    const url = receiver.url.replace('127.0.0.1', 'hooks.test');
    expect(await send(url)).toMatchObject({ end: 'delivered' });
    expect(receiver.received[0]?.headers.host).toBe(new URL(url).host);
  });

  it.each(['http://10.0.0.1/', 'http://inside.test/', 'https://inside.test/', 'http://localhost.:25/'])(
    'never dials %s',
    async (url) => {
      expect(await send(url)).toMatchObject({ end: 'forbidden', status: null });
    },
  );

  it('sends nothing to a receiver without a certificate for its name', async () => {
    const tls = { key: KEY, cert: CERTIFICATE };
    await using receiver = await startReceiver(undefined, { tls });
    const at = (name: string) => receiver.url.replace('127.0.0.1', name);
    const again = { end: 'again', status: null };
    expect(await send(at('hooks.test'))).toMatchObject({ ...again, reason: expect.stringContaining('self-signed') });
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, CERTIFICATE]);
    try {
      expect(await send(at('other.test'))).toMatchObject({ ...again, reason: expect.stringContaining('other.test') });
      expect(receiver.received).toEqual([]);
      expect(await send(at('hooks.test'))).toMatchObject({ end: 'delivered' });
      expect(receiver.received).toHaveLength(1);
    } finally {
      setDefaultCACertificates(trusted);
    }
  });

  it('ends at once when the service stops', async () => {
    const asked = Promise.withResolvers<void>();
    await using receiver = await startReceiver(() => asked.resolve());
    const stop = new AbortController();
    const sent = send(receiver.url, { timeoutMs: 60_000 }, stop.signal);
    await asked.promise;
    stop.abort();
    expect(await sent).toMatchObject({ end: 'again' });
  });
});
