import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceForSuite } from '../../support/for-suite.ts';
import { type RunningApp, serve } from '../../support/serve.ts';
import { NO_BROWSER } from '../../support/service.ts';

const KEY = 'key-of-this-suite';

const app = serviceForSuite(NO_BROWSER, { allowedHosts: ['capstan.internal', 'Bücher.example', '192.0.2.7'] });
let keyed: RunningApp;
let everywhere: RunningApp;

beforeAll(async () => {
  keyed = await serve(app.service, { apiKey: [KEY], allowedHosts: [] });
  everywhere = await serve(app.service, {}, { host: '::' });
});

afterAll(async () => {
  await keyed?.close();
  await everywhere?.close();
});

interface Sent {
  readonly to?: string;
  readonly host: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

async function send({ to = app.baseUrl, host, path = '/stats', headers = {} }: Sent) {
  const { hostname, port } = new URL(to);
  const sent = request({ hostname: hostname.replace(/^\[|\]$/g, ''), port, path, headers: { Host: host, ...headers } });
  return new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    sent.on('response', (response) =>
      json(response).then((body) => resolve({ status: response.statusCode, body }), reject),
    );
    sent.on('error', reject).end();
  });
}

describe('allowHosts', () => {
  it.each([
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'capstan.localhost:1',
    '127.0.0.1',
    '127.0.0.1:80',
    '127.1.2.3',
    '[::1]',
    '[::1]:8080',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]:1',
    'capstan.internal',
    'Capstan.Internal:443',
    'xn--bcher-kva.example',
    '192.0.2.7:8080',
    '',
  ])('accepts the Host %j', async (host) => {
    expect((await send({ host })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    'capstan.internal.evil.example',
    'sub.capstan.internal',
    '192.0.2.8',
    '0.0.0.0',
    '[2001:db8::1]',
  ])('refuses the Host %j', async (host) => {
    const { status, body } = await send({ host });
    expect(status).toBe(421);
    expect(body).toMatchObject({
      success: false,
      code: 'host_not_allowed',
      error: expect.stringContaining(`${JSON.stringify(host)} is not allowed without an API key`),
    });
  });

  it.each(['/livez', '/openapi.json', '/unknown'])('checks the Host of %s', async (path) => {
    expect((await send({ host: 'evil.example', path })).status).toBe(421);
  });

  it.each(
    Object.values(networkInterfaces())
      .flatMap((addresses = []) => addresses)
      .filter(({ scopeid = 0 }) => scopeid === 0)
      .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  )('accepts the address that the client dialled: %s', async (address) => {
    const to = `http://${address}:${new URL(everywhere.baseUrl).port}`;
    expect((await send({ to, host: new URL(to).host })).status).toBe(200);
    expect((await send({ to, host: '192.0.2.9' })).status).toBe(421);
  });
});

describe('a service with API keys', () => {
  it('accepts any Host', async () => {
    const to = keyed.baseUrl;
    expect((await send({ to, host: 'any.example', headers: { 'X-API-Key': KEY } })).status).toBe(200);
    expect((await send({ to, host: 'any.example' })).status).toBe(401);
    expect((await send({ to, host: 'any.example', path: '/livez' })).status).toBe(200);
  });
});
