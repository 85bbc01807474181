import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttemptReport, IpapiClient, type IpapiOptions } from '../../src/ipinfo/mod.ts';
import { body, failureOf, hangUp, json, silence, type Upstream } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

// Contains every kind of character that at least one of the spellings escapes.
const KEY = 'Zq7"&+/=\\%~secret';
const SPELLINGS = [
  KEY,
  encodeURIComponent(KEY),
  encodeURIComponent(KEY).toLowerCase(),
  new URLSearchParams({ k: KEY }).toString().slice(2),
  JSON.stringify(KEY).slice(1, -1),
  'secret',
];

/** Returns the error as text in every form in which it could be logged. */
function everythingOf(error: unknown): string {
  const texts: string[] = [];
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    texts.push(String(current), current.message, current.stack ?? '', JSON.stringify(current));
    texts.push(JSON.stringify(Object.getOwnPropertyNames(current).map((name) => String(Reflect.get(current, name)))));
  }
  texts.push(inspect(error, { depth: 20, showHidden: true, getters: true }));
  return texts.join('\n');
}

describe.each(['header', 'query'] as const)('secrecy of the key in %s mode', (apiKeyMode) => {
  const upstream = upstreamPerTest();
  let reports: AttemptReport[];

  beforeEach(() => {
    reports = [];
  });

  const optionsWith = (options: IpapiOptions = {}): IpapiOptions => ({
    baseUrl: upstream.url,
    apiKey: KEY,
    apiKeyMode,
    retryDelayMs: 1,
    retries: 1,
    timeoutMs: 100,
    maxBodyBytes: 5000,
    onAttempt: (report) => reports.push(report),
    ...options,
  });

  /** Error record that echoes the key in every possible way. */
  const echo = JSON.stringify({
    error: true,
    reason: `Invalid Key ${KEY}`,
    message: `No such key: ${KEY} ${encodeURIComponent(KEY)}`,
  });

  it.each<[string, () => Upstream['answer'], IpapiOptions]>([
    ['a connection that breaks', () => hangUp, {}],
    ['a connection that is refused', () => hangUp, { baseUrl: 'http://127.0.0.1:1/' }],
    ['a name that does not resolve', () => hangUp, { baseUrl: 'http://nowhere.invalid/' }],
    ['a time-out', () => silence, {}],
    ['a body that is too large', () => body(200, 'x'.repeat(10_000)), {}],
    ['a body that cannot be decompressed', () => body(200, 'x', { 'content-encoding': 'gzip' }), {}],
    ['a body that cannot be read', () => body(200, `<p>${KEY}</p>`), {}],
    ['a compressed echo', () => body(403, gzipSync(echo), { 'content-encoding': 'gzip' }), {}],
    ['an echo with 200', () => body(200, echo), {}],
    [
      'an echo in place of an address',
      () => json(200, { error: true, reason: 'Invalid IP Address', message: KEY }),
      {},
    ],
    ['a limiter that repeats it', () => hangUp, { rateLimiter: { take: () => Promise.reject(new Error(KEY)) } }],
    ['an endless redirect', () => body(302, '', { location: '/x/' }), {}],
    ...[400, 403, 404, 405, 429, 500, 418, 503].map((status): [string, () => Upstream['answer'], IpapiOptions] => [
      `an echo with ${status}`,
      () => body(status, echo),
      {},
    ]),
  ])('keeps the key out of errors and attempt reports: %s', async (_what, answer, options) => {
    upstream.answer = answer();
    const client = new IpapiClient(optionsWith(options));
    const errors = await Promise.all([
      failureOf(client.getIPInfo('8.8.8.8')),
      failureOf(client.getQuota()),
      failureOf(client.getClientIPInfo()),
    ]);
    for (const error of errors) {
      expect(error).toHaveProperty('code', expect.any(String));
      for (const spelling of SPELLINGS) expect(everythingOf(error)).not.toContain(spelling);
    }
    for (const spelling of SPELLINGS) expect(inspect(reports)).not.toContain(spelling);
  });

  it('keeps the key out of errors about bad input, even when it is the address, format or field', async () => {
    const client = new IpapiClient(optionsWith());
    const errors = await Promise.all([
      failureOf(client.getIPInfo(KEY)),
      failureOf(client.getIPInfo('8.8.8.8', Object(KEY))),
      // biome-ignore lint/suspicious/noExplicitAny: plain JavaScript may pass anything
      failureOf(client.getIPInfo('8.8.8.8', KEY as any)),
      // biome-ignore lint/suspicious/noExplicitAny: plain JavaScript may pass anything
      failureOf(client.getField('8.8.8.8', KEY as any)),
    ]);
    for (const error of errors) {
      for (const spelling of SPELLINGS) expect(everythingOf(error)).not.toContain(spelling);
    }
  });

  it('keeps the key out of errors about an invalid option', () => {
    const bad: IpapiOptions[] = [
      { apiKey: `${KEY}\n` },
      { baseUrl: `http://${encodeURIComponent(KEY)}@x/` },
      { baseUrl: KEY },
      { retries: -1 },
    ];
    for (const options of bad) {
      try {
        new IpapiClient(optionsWith(options));
        expect.unreachable();
      } catch (error) {
        for (const spelling of SPELLINGS) expect(everythingOf(error)).not.toContain(spelling);
      }
    }
  });

  it('keeps the key out of every property of the client', async () => {
    const client = new IpapiClient(optionsWith());
    const flight = client.getIPInfo('8.8.8.8');
    expect(inspect(client, { depth: 20, showHidden: true })).not.toContain('secret');
    expect(JSON.stringify(client)).toBe('{}');
    await flight;
  });
});
