import { beforeEach, describe, expect, it } from 'vitest';
import * as ipinfo from '../../src/ipinfo/mod.ts';
import { body, failureOf, json } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

const { IpapiClient, IpapiError, RateLimitedError } = ipinfo;

describe('error answers to IpapiClient', () => {
  const upstream = upstreamPerTest();
  let client: ipinfo.IpapiClient;

  beforeEach(() => {
    client = new IpapiClient({ baseUrl: upstream.url, retryDelayMs: 1, apiKey: 's3cret' });
  });

  it.each([
    [400, 'ServerError', 'server_error', 1, false],
    [403, 'InvalidKeyError', 'invalid_key', 1, false],
    [404, 'NotFoundError', 'not_found', 1, false],
    [405, 'MethodNotAllowedError', 'method_not_allowed', 1, false],
    [429, 'RateLimitedError', 'rate_limited', 1, true],
    [500, 'ServerError', 'server_error', 3, true],
    [402, 'UnexpectedStatusError', 'unexpected_status', 1, false],
    [408, 'UnexpectedStatusError', 'unexpected_status', 1, false],
    [413, 'UnexpectedStatusError', 'unexpected_status', 1, false],
    [418, 'UnexpectedStatusError', 'unexpected_status', 1, false],
    [501, 'UnexpectedStatusError', 'unexpected_status', 3, true],
    [503, 'UnexpectedStatusError', 'unexpected_status', 3, true],
    [521, 'UnexpectedStatusError', 'unexpected_status', 3, true],
    [304, 'UnexpectedStatusError', 'unexpected_status', 1, false],
    [302, 'UnexpectedStatusError', 'unexpected_status', 1, false],
  ])('maps status %i to %s', async (status, name, code, sends, retryable) => {
    upstream.answer = body(status, status === 304 ? '' : '<h1>no</h1>');
    const error = await failureOf(client.getIPInfo('8.8.8.8'));
    expect(error).toBeInstanceOf(IpapiError);
    expect(error).toBeInstanceOf(Reflect.get(ipinfo, name));
    expect(error).toMatchObject({ name, code, status, reason: '', attempts: sends, retryable });
    expect(upstream.sends).toBe(sends);
    if (code === 'unexpected_status') expect(String(error)).toContain(`unexpected status code: ${status}`);
  });

  it('reports an unexpected status with the status code in the message', async () => {
    upstream.answer = body(418, 'teapot');
    expect(await failureOf(client.getIPInfo('8.8.8.8'))).toHaveProperty('message', 'unexpected status code: 418');
  });

  const records: [string, object | string, string, string][] = [
    ['a rate limit', { error: true, reason: 'RateLimited', message: 'Slow down' }, 'RateLimitedError', 'RateLimited'],
    ['a bad key', { error: true, reason: 'Invalid Key', message: 'No such key' }, 'InvalidKeyError', 'Invalid Key'],
    ['a bad address', { error: true, reason: 'Invalid IP Address', ip: 'x' }, 'InvalidIPError', 'Invalid IP Address'],
    [
      'a reserved address',
      { ip: '127.0.0.1', error: true, reason: 'Reserved IP Address', reserved: true, version: 'IPv4' },
      'ReservedIPError',
      'Reserved IP Address',
    ],
    ['a reserved address in the older form', { ip: '127.0.0.1', reserved: true }, 'ReservedIPError', ''],
    ['an unknown reason', { error: true, reason: 'Moon phase' }, 'ServerError', 'Moon phase'],
    ['nothing but the flag', { error: true }, 'ServerError', ''],
    [
      'a Python dict',
      "{'error': True, 'reason': 'RateLimited', 'message': \"it's\"}",
      'RateLimitedError',
      'RateLimited',
    ],
    ['a Python dict and a line feed', "{'ip': '127.0.0.1', 'reserved': True}\n", 'ReservedIPError', ''],
  ];

  it.each(records)('maps a 200 with %s to its error for every operation', async (_what, record, name, reason) => {
    upstream.answer = body(200, typeof record === 'string' ? record : JSON.stringify(record));
    const operations = [
      client.getIPInfo('8.8.8.8'),
      client.getIPInfoRaw('8.8.8.8', 'json'),
      client.getIPInfoRaw('8.8.8.8', 'csv'),
      client.getField('8.8.8.8', 'city'),
      client.getClientIPInfo(),
      client.getClientIPInfoRaw('json'),
      client.getClientField('ip'),
      client.getQuota(),
    ];
    const errors = await Promise.all(operations.map(failureOf));
    expect(errors).toMatchObject(operations.map(() => ({ name, reason, status: 200, attempts: 1 })));
    expect(upstream.sends).toBe(operations.length);
  });

  it.each([
    ['jsonp', 'callback({"error": true, "reason": "RateLimited"});'],
    ['xml', '<root><error>True</error><reason>RateLimited</reason></root>'],
    ['csv', 'error,reason\r\nTrue,RateLimited\r\n'],
    ['yaml', 'error: true\nreason: RateLimited\n'],
  ] as const)('finds the error record in %s too', async (format, text) => {
    upstream.answer = body(200, text);
    expect(await failureOf(client.getIPInfo('8.8.8.8', format))).toBeInstanceOf(RateLimitedError);
    expect(await failureOf(client.getIPInfoRaw('8.8.8.8', format))).toBeInstanceOf(RateLimitedError);
  });

  it('trusts the error record more than the status', async () => {
    upstream.answer = json(400, { error: true, reason: 'Reserved IP Address', reserved: true });
    expect(await failureOf(client.getIPInfo('8.8.8.8'))).toMatchObject({ name: 'ReservedIPError', status: 400 });
    upstream.answer = body(404, "{'error': True, 'reason': 'Invalid Key'}");
    expect(await failureOf(client.getField('8.8.8.8', 'org'))).toMatchObject({ name: 'InvalidKeyError', status: 404 });
  });

  it('uses the status when the record has an unknown reason, and passes the reason on', async () => {
    upstream.answer = json(404, { error: true, reason: 'Gone fishing' });
    const error = await failureOf(client.getIPInfo('8.8.8.8'));
    expect(error).toMatchObject({ name: 'NotFoundError', reason: 'Gone fishing' });
    expect(String(error)).toContain('Gone fishing');
  });

  it('does not treat a record with error false as an error', async () => {
    upstream.answer = json(200, { ip: '8.8.8.8', error: false, reserved: false });
    expect(await client.getIPInfo('8.8.8.8')).toMatchObject({ ip: '8.8.8.8' });
  });

  it('reports a blocked network for a 403 without a key', async () => {
    upstream.answer = body(403, '');
    const error = await failureOf(new IpapiClient({ baseUrl: upstream.url }).getIPInfo('8.8.8.8'));
    expect(error).toMatchObject({ name: 'InvalidKeyError', message: expect.stringContaining('blocks this network') });
  });

  it.each<[string, Record<string, string>, object, number | null]>([
    ['seconds of the header', { 'retry-after': '7' }, {}, 7000],
    ['wait of the record', {}, { wait: 12.5 }, 12_500],
    ['a date that has passed', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, {}, 0],
    ['nothing', {}, {}, null],
    ['nonsense', { 'retry-after': 'soon' }, { wait: 'long' }, null],
  ])('sets retryAfterMs from %s', async (_what, headers, extra, retryAfterMs) => {
    upstream.answer = json(429, { error: true, reason: 'RateLimited', ...extra }, headers);
    expect(await failureOf(client.getIPInfo('8.8.8.8'))).toMatchObject({ name: 'RateLimitedError', retryAfterMs });
    expect(upstream.sends).toBe(1);
  });

  it('sets retryAfterMs from a date in the future', async () => {
    const later = new Date(Date.now() + 3_600_000).toUTCString();
    upstream.answer = body(429, '', { 'retry-after': later });
    const error = await failureOf(client.getIPInfo('8.8.8.8'));
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error instanceof RateLimitedError && error.retryAfterMs !== null && error.retryAfterMs > 3_000_000).toBe(
      true,
    );
  });

  it('includes all details of an error in its JSON', async () => {
    upstream.answer = body(429, '', { 'retry-after': '1' });
    const error = await failureOf(client.getIPInfo('8.8.8.8'));
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'RateLimitedError',
      code: 'rate_limited',
      message: expect.any(String),
      status: 429,
      reason: '',
      attempts: 1,
      retryable: true,
      retryAfterMs: 1000,
    });
  });
});
