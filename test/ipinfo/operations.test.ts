import { beforeEach, describe, expect, it } from 'vitest';
import { FIELD_NAMES, FORMATS, getPostal, InvalidResponseError, IpapiClient } from '../../src/ipinfo/mod.ts';
import { BRISBANE, body, failureOf, json } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

describe('operations of IpapiClient', () => {
  const upstream = upstreamPerTest();
  let client: IpapiClient;

  beforeEach(() => {
    client = new IpapiClient({ baseUrl: upstream.url });
  });

  const paths = () => upstream.seen.map(({ path }) => path);

  it.each<[string, () => Promise<unknown>, string]>([
    ['getIPInfo', () => client.getIPInfo('8.8.8.8'), '/8.8.8.8/json/'],
    ['getIPInfo of IPv6', () => client.getIPInfo('2001:4860::8888'), '/2001:4860::8888/json/'],
    ['getIPInfo of an IPv6 address that looks like a scheme', () => client.getIPInfo('fe80::1'), '/fe80::1/json/'],
    ['getIPInfo of a mapped address', () => client.getIPInfo('::ffff:8.8.8.8'), '/::ffff:8.8.8.8/json/'],
    ['getIPInfoRaw', () => client.getIPInfoRaw('8.8.8.8', 'xml'), '/8.8.8.8/xml/'],
    ['getField', () => client.getField('8.8.8.8', 'city'), '/8.8.8.8/city/'],
    ['getField of the add-on', () => client.getField('8.8.8.8', 'hostname'), '/8.8.8.8/hostname/'],
    ['getClientIPInfo', () => client.getClientIPInfo(), '/json/'],
    ['getClientIPInfoRaw', () => client.getClientIPInfoRaw('yaml'), '/yaml/'],
    ['getClientField', () => client.getClientField('latlong'), '/latlong/'],
  ])('requests the right path: %s', async (_name, operate, path) => {
    await operate();
    expect(paths()).toEqual([path]);
  });

  it('requests the path of the quota', async () => {
    upstream.answer = json(200, { available: '1' });
    await client.getQuota();
    expect(paths()).toEqual(['/quota/']);
  });

  it.each(['prefix/v1', 'prefix/v1/'])('keeps the path prefix of the base address (%s)', async (prefix) => {
    await new IpapiClient({ baseUrl: upstream.url + prefix }).getIPInfo('2001:db8::1');
    expect(paths()).toEqual(['/prefix/v1/2001:db8::1/json/']);
  });

  it('sends a distinctive User-Agent, or the configured one', async () => {
    await client.getClientIPInfo();
    await new IpapiClient({ baseUrl: upstream.url, userAgent: 'mine/1' }).getClientIPInfo();
    expect(upstream.seen.map(({ headers }) => headers['user-agent'])).toEqual([
      expect.stringContaining('capstan'),
      'mine/1',
    ]);
  });

  it('sends the key as a header and not in the query', async () => {
    await new IpapiClient({ baseUrl: upstream.url, apiKey: 's3cret' }).getIPInfo('8.8.8.8');
    expect(upstream.seen).toMatchObject([{ path: '/8.8.8.8/json/', headers: { authorization: 'Bearer s3cret' } }]);
  });

  it('sends the key in the query and not as a header', async () => {
    await new IpapiClient({ baseUrl: upstream.url, apiKey: 's&+c', apiKeyMode: 'query' }).getIPInfo('8.8.8.8');
    expect(paths()).toEqual(['/8.8.8.8/json/?key=s%26%2Bc']);
    expect(upstream.seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('sends no Authorization header without a key or with an empty one', async () => {
    await new IpapiClient({ baseUrl: upstream.url, apiKey: '' }).getIPInfo('8.8.8.8');
    expect(upstream.seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('sends the callback with JSONP only', async () => {
    const withCallback = new IpapiClient({ baseUrl: upstream.url, callback: 'app.on_ip$' });
    await withCallback.getIPInfoRaw('8.8.8.8', 'jsonp');
    await withCallback.getIPInfoRaw('8.8.8.8', 'json');
    expect(paths()).toEqual(['/8.8.8.8/jsonp/?callback=app.on_ip%24', '/8.8.8.8/json/']);
  });

  it('returns a record with the field names of the JSON response', async () => {
    expect(await client.getIPInfo('1.1.1.1')).toEqual(BRISBANE);
    expect(await client.getClientIPInfo()).toEqual(BRISBANE);
  });

  it.each<[string, unknown]>([
    ['null', Object.fromEntries(Object.keys(BRISBANE).map((name) => [name, null]))],
    ['absent', {}],
  ])('reads %s values as empty text in text fields, and as null in all others', async (_name, record) => {
    upstream.answer = json(200, record);
    const nothing = Object.fromEntries(Object.keys(BRISBANE).map((name) => [name, '']));
    const info = await client.getIPInfo('1.1.1.1');
    expect(info).toEqual({
      ...nothing,
      in_eu: null,
      postal: null,
      latitude: null,
      longitude: null,
      country_area: null,
      country_population: null,
    });
    expect(getPostal(info)).toBe('');
  });

  it('keeps leading zeros, false values and the leading dot', async () => {
    upstream.answer = json(200, { ...BRISBANE, latitude: 0, longitude: -0.5, in_eu: false, country_tld: '.us' });
    expect(await client.getIPInfo('1.1.1.1')).toMatchObject({
      latitude: 0,
      longitude: -0.5,
      in_eu: false,
      country_tld: '.us',
      postal: '04000',
    });
  });

  it('reads a float literal as a number, and a numeric postal code as text', async () => {
    upstream.answer = body(200, '{"ip": "8.8.8.8", "country_population": 310232863.0, "postal": 94043}');
    const info = await client.getIPInfo('8.8.8.8');
    expect(info).toMatchObject({ country_population: 310232863, postal: '94043' });
    expect(getPostal(info)).toBe('94043');
  });

  it.each<['jsonp' | 'xml' | 'csv' | 'yaml', string]>([
    ['jsonp', `callback(${JSON.stringify({ ...BRISBANE, org: 'A) & "B", C', hostname: null })});`],
    [
      'xml',
      `<?xml version="1.0" encoding="utf-8"?>\n<root>${Object.entries({
        ...BRISBANE,
        in_eu: 'False',
        org: 'A) &amp; &quot;B&#34;, C',
        hostname: '',
      })
        .map(([name, value]) => `<${name}>${value}</${name}>`)
        .join('\n')}</root>`,
    ],
    [
      'csv',
      `${Object.keys(BRISBANE).join(',')}\r\n${Object.values({ ...BRISBANE, in_eu: 'False', org: '"A) & ""B"", C"', hostname: '' }).join(',')}\r\n`,
    ],
    [
      'yaml',
      Object.entries({
        ...BRISBANE,
        postal: "'04000'",
        utc_offset: "'+1000'",
        org: '\'A) & "B",\n  C\'',
        hostname: 'null',
      })
        .map(([name, value]) => `${name}: ${value}\n`)
        .join(''),
    ],
  ])('reads the same record from %s', async (format, text) => {
    upstream.answer = body(200, text);
    expect(await client.getIPInfo('1.1.1.1', format)).toEqual({ ...BRISBANE, org: 'A) & "B", C', hostname: '' });
  });

  it.each(FORMATS)('refuses a body that is not a record in %s', async (format) => {
    upstream.answer = body(200, '<html><title>Welcome</title></html>');
    const error = await failureOf(client.getIPInfo('1.1.1.1', format));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error).toMatchObject({ code: 'invalid_response', status: 200, attempts: 1 });
    expect(upstream.sends).toBe(1);
  });

  it('returns raw bytes unchanged', async () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0, 255, 13, 10, 65]);
    upstream.answer = body(200, bytes);
    expect(await client.getIPInfoRaw('8.8.8.8', 'csv')).toEqual(bytes);
    expect(await client.getClientIPInfoRaw('csv')).toEqual(bytes);
  });

  it.each([
    ['Brisbane', 'Brisbane'],
    ['Brisbane\n', 'Brisbane'],
    ['-27.47,153.01', '-27.47,153.01'],
    ['None', 'None'],
    ['True', 'True'],
    ['', ''],
  ])('returns the field %j as the text %j', async (sent, text) => {
    upstream.answer = body(200, sent);
    expect(await client.getField('1.1.1.1', 'city')).toBe(text);
    expect(await client.getClientField('city')).toBe(text);
  });

  it.each([
    ['12345', '12345', 12345],
    [12345, '12345', 12345],
    [0, '0', 0],
    ['API key needed', 'API key needed', null],
    [null, '', null],
  ])('parses a quota of %j', async (available, text, remaining) => {
    upstream.answer = json(200, { available });
    expect(await client.getQuota()).toEqual({ available: text, remaining });
  });

  it('refuses a body that is not a quota', async () => {
    upstream.answer = json(200, { something: 1 });
    expect(await failureOf(client.getQuota())).toBeInstanceOf(InvalidResponseError);
  });

  it('lists 28 different fields, without the add-on', () => {
    expect(new Set(FIELD_NAMES).size).toBe(28);
    expect(FIELD_NAMES).toHaveLength(28);
    expect(FIELD_NAMES).not.toContain('hostname');
    expect(FIELD_NAMES).toContain('latlong');
  });
});
