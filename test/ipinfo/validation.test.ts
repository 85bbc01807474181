import { isIP } from 'node:net';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { canonicalAddress } from '../../src/ipinfo/address.ts';
import {
  InvalidArgumentError,
  InvalidIPError,
  IpapiClient,
  type IpapiOptions,
  isAddress,
  isReservedAddress,
} from '../../src/ipinfo/mod.ts';
import { failureOf } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

describe('argument validation of IpapiClient', () => {
  const upstream = upstreamPerTest();
  let client: IpapiClient;

  beforeEach(() => {
    client = new IpapiClient({ baseUrl: upstream.url });
  });

  it.each([
    '',
    ' ',
    ' 8.8.8.8',
    '8.8.8.8\n',
    '8.8.8',
    '8.8.8.8.8',
    '256.1.1.1',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '8.8.8.8/24',
    '8.8.8.8:80',
    '[::1]',
    '::1/64',
    'fe80::1%eth0',
    'fe80::1%1',
    '2001:db8::g',
    ':::',
    'me',
    'json',
    'quota',
    '../quota',
    '8.8.8.8/../../quota',
    '8.8.8.8?x=1',
    '8.8.8.8#',
    'localhost',
    '٨.٨.٨.٨',
  ])('refuses the address %j before anything is sent', async (ip) => {
    const operations = [client.getIPInfo(ip), client.getIPInfoRaw(ip, 'xml'), client.getField(ip, 'city')];
    for (const error of await Promise.all(operations.map(failureOf))) {
      expect(error).toBeInstanceOf(InvalidIPError);
      expect(error).toMatchObject({ code: 'invalid_ip', status: null, attempts: 0, retryable: false });
    }
    expect(upstream.sends).toBe(0);
  });

  it.each(['JSON', 'html', '', 'json/', 'toString', undefined, null, 1])('refuses the format %j', async (format) => {
    // Operations with a default format accept undefined.
    // biome-ignore lint/suspicious/noExplicitAny: plain JavaScript may pass anything
    const wrong = format as any;
    const operations = [client.getIPInfoRaw('8.8.8.8', wrong), client.getClientIPInfoRaw(wrong)];
    if (format !== undefined)
      operations.push(Promise.resolve(client.getIPInfo('8.8.8.8', wrong)).then(() => new Uint8Array()));
    for (const error of await Promise.all(operations.map(failureOf))) {
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(String(error)).toContain('json, jsonp, xml, csv, yaml');
    }
    expect(upstream.sends).toBe(0);
  });

  it.each(['City', 'hostnames', '', 'json', 'quota', '__proto__', '../quota', undefined])(
    'refuses the field %j',
    async (field) => {
      // biome-ignore lint/suspicious/noExplicitAny: plain JavaScript may pass anything
      const wrong = field as any;
      for (const error of await Promise.all(
        [client.getField('8.8.8.8', wrong), client.getClientField(wrong)].map(failureOf),
      )) {
        expect(error).toBeInstanceOf(InvalidArgumentError);
      }
      expect(upstream.sends).toBe(0);
    },
  );

  it.each<[string, object]>([
    ['baseUrl', { baseUrl: 'ipapi.co' }],
    ['baseUrl', { baseUrl: 'ftp://ipapi.co/' }],
    ['baseUrl', { baseUrl: 'https://user:pass@ipapi.co/' }],
    ['baseUrl', { baseUrl: 'https://ipapi.co/?key=1' }],
    ['apiKey', { apiKey: 'line\nfeed' }],
    ['apiKey', { apiKey: 'schlüssel' }],
    ['apiKeyMode', { apiKeyMode: 'cookie' }],
    ['callback', { callback: 'alert(1)' }],
    ['callback', { callback: 'a\n' }],
    ['callback', { callback: '' }],
    ['userAgent', { userAgent: 'a\r\nb' }],
    ['userAgent', { userAgent: '' }],
    ['retries', { retries: -1 }],
    ['retries', { retries: 1.5 }],
    ['retries', { retries: Number.POSITIVE_INFINITY }],
    ['retryDelayMs', { retryDelayMs: -1 }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: '10' }],
    ['maxBodyBytes', { maxBodyBytes: 0 }],
    ['cache.max', { cache: { max: 0, ttlMs: 1 } }],
    ['cache.ttlMs', { cache: { max: 1, ttlMs: 0 } }],
  ])('refuses a bad %s and names it: %o', (name, options: IpapiOptions) => {
    expect(() => new IpapiClient(options)).toThrow(InvalidArgumentError);
    expect(() => new IpapiClient(options)).toThrow(name);
  });

  it('refuses an invalid timeout of a call', async () => {
    expect(await failureOf(client.getQuota({ timeoutMs: 0 }))).toBeInstanceOf(InvalidArgumentError);
    expect(upstream.sends).toBe(0);
  });
});

const ipv6Group = fc.integer({ min: 0, max: 0xffff }).map((group) => group.toString(16));
const anyAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV6().filter((ip) => isIP(ip) === 6),
  fc.array(ipv6Group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':')),
);

describe('isAddress', () => {
  it('accepts every address', () => {
    fc.assert(fc.property(anyAddress, (ip) => isAddress(ip)));
  });

  it('refuses an address with anything before, after or in it', () => {
    const noise = fc.constantFrom('%', '%eth0', '/', '/64', '[', ']', ' ', '\n', '\0', '?', '#', 'g', '@', '\\');
    fc.assert(
      fc.property(anyAddress, noise, fc.nat(), (ip, extra, place) => {
        const at = place % (ip.length + 1);
        return !isAddress(ip.slice(0, at) + extra + ip.slice(at));
      }),
    );
  });

  it('refuses every text with characters that could change the path of a request', () => {
    fc.assert(fc.property(fc.string(), (text) => !isAddress(text) || /^[\da-fA-F:.]+$/.test(text)));
  });
});

describe('canonicalAddress', () => {
  it('returns one spelling for every address, and is idempotent', () => {
    fc.assert(
      fc.property(anyAddress, (ip) => {
        const canonical = canonicalAddress(ip);
        expect(isAddress(canonical)).toBe(true);
        expect(canonicalAddress(canonical)).toBe(canonical);
        expect(canonicalAddress(ip.toUpperCase())).toBe(canonical);
      }),
    );
  });

  it('returns the IPv4 address for an IPv4-mapped IPv6 address', () => {
    fc.assert(fc.property(fc.ipV4(), (ip) => canonicalAddress(`::ffff:${ip}`) === canonicalAddress(ip)));
  });
});

describe('isReservedAddress', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'ff02::1',
    '2001:db8::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
  ])('recognises %s', (ip) => {
    expect(isReservedAddress(ip)).toBe(true);
  });

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', 'example.com', ''])(
    'does not classify %j as reserved',
    (ip) => {
      expect(isReservedAddress(ip)).toBe(false);
    },
  );
});
