import { describe, expect, it } from 'vitest';
import { parse, problemsOf } from './option-problems.ts';

describe('headers', () => {
  it('accepts ordinary headers unchanged', () => {
    const headers = { Authorization: 'Bearer x', 'X-Trace': '', Referer: 'https://example.com/' };
    expect(parse({ headers })).toMatchObject({ headers });
  });

  it('refuses each header of the connection and each header that the browser sets', () => {
    const refused = [
      'Host',
      'Connection',
      'Content-Length',
      'Transfer-Encoding',
      'Upgrade',
      'Proxy-Authorization',
      'TE',
      'Trailer',
      'Expect',
      'Keep-Alive',
      'Cookie',
      'Accept-Encoding',
      'User-Agent',
      'Sec-Fetch-Site',
      'Origin',
    ];
    const problems = problemsOf({ headers: Object.fromEntries(refused.map((name) => [name, 'x'])) });
    expect(problems.map(({ path }) => path)).toEqual(refused.map((name) => expect.stringContaining(name)));
    expect(problems.find(({ path }) => path.includes('Cookie'))?.message).toBe('cannot be set: use cookies');
  });

  it.each([
    [{ 'X Trace': '1' }, 'must have a header name'],
    [{ 'X-Trace:': '1' }, 'must have a header name'],
    [{ '': '1' }, 'must have a header name'],
    [{ 'X-Trace': 'a\r\nHost: b' }, 'on one line'],
    [{ 'X-Trace': 'caf\u00e9' }, 'printable ASCII'],
    [{ 'X-Trace': 'x'.repeat(8193) }, 'at most 8192 characters'],
    [{ 'X-Trace': '1', 'x-trace': '2' }, 'is given twice'],
    [{ 'X-Trace': 1 }, 'must be a string'],
    [Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`X-${at}`, ''])), 'at most 50 headers'],
    [
      Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`X-${at}`, 'x'.repeat(8000)])),
      '65536 characters in all',
    ],
    [['X-Trace'], 'must be an object of header names'],
  ])('names what is accepted instead of %o', (headers, message) => {
    const [problem, ...more] = problemsOf({ headers });
    expect(problem?.message).toContain(message);
    expect(problem?.path).toContain('headers');
    expect(more).toEqual([]);
  });
});

describe('cookies', () => {
  it.each([
    [[{ name: 'a' }], 'cookies[0].value', 'must be a string'],
    [[{ name: 'a b', value: '' }], 'cookies[0].name', 'must be a token'],
    [[{ name: 'a', value: 'x; Path=/' }], 'cookies[0].value', 'semicolon'],
    [[{ name: 'a', value: 'x\r\n' }], 'cookies[0].value', 'control characters'],
    [[{ name: 'a', value: '', domain: 'http://x' }], 'cookies[0].domain', 'must be a host name'],
    [[{ name: 'a', value: '', path: 'x' }], 'cookies[0].path', 'must begin with /'],
    [[{ name: 'a', value: '', sameSite: 'all' }], 'cookies[0].sameSite', 'Strict, Lax or None'],
    [[{ name: 'a', value: '', sameSite: 'None' }], 'cookies[0]', 'must be secure'],
    [[{ name: '__Secure-a', value: '' }], 'cookies[0]', 'must be secure: its name begins with __Secure-'],
    [
      [{ name: '__Host-a', value: '', secure: true, path: '/b' }],
      'cookies[0]',
      'with the path /: its name begins with __Host-',
    ],
    [[{ name: '__host-a', value: '', secure: true, domain: '.a.test' }], 'cookies[0]', 'no dot before its domain'],
    [[{ name: 'a', value: 'x'.repeat(4096) }], 'cookies[0]', 'at most 4096 characters'],
    [[{ name: 'a', value: '', expires: 'soon' }], 'cookies[0].expires', 'must be a number of seconds since 1970'],
    ...['Wed, 31 Jun 2027 10:18:14 GMT', 'Wed, 09 Jun 2027', '2027-13-01T00:00:00Z', '9 Jun 1600 0:0:0'].map(
      (expires): [unknown, string, string] => [
        [{ name: 'a', value: '', expires }],
        'cookies[0].expires',
        'or a date such as "Wed, 09 Jun 2027 10:18:14 GMT" or "2027-06-09T10:18:14Z"',
      ],
    ),
    [[{ name: 'a', value: '', expire: 1 }], 'cookies[0].expire', 'is not a field of a cookie; did you mean expires?'],
    [Array.from({ length: 101 }, () => ({ name: 'a', value: '' })), 'cookies', 'at most 100 cookies'],
    [Array.from({ length: 17 }, () => ({ name: 'a', value: 'x'.repeat(4000) })), 'cookies', 'at most 65536 characters'],
  ])('refuses cookies that no browser would accept', (cookies, path, message) => {
    expect(problemsOf({ cookies })).toEqual([{ path, message: expect.stringContaining(message) }]);
  });
});

describe('exported cookies', () => {
  const read = { name: 'sid', value: 'x', domain: '.a.test', path: '/', secure: true, httpOnly: true };
  const expires = 1_900_000_000.25;

  it.each<[string, object, object]>([
    ['Playwright', { expires, sameSite: 'Lax' }, { expires, sameSite: 'Lax' }],
    [
      'Playwright, of a session',
      { expires: -1, sameSite: 'None', partitionKey: 'https://a.test' },
      { sameSite: 'None' },
    ],
    [
      'Puppeteer',
      {
        expires,
        size: 4,
        session: false,
        sameParty: false,
        sourceScheme: 'Secure',
        sourcePort: 443,
        priority: 'Medium',
      },
      { expires },
    ],
    [
      'EditThisCookie',
      { expirationDate: expires, hostOnly: false, session: false, storeId: '0', id: 1, sameSite: 'no_restriction' },
      { expires, sameSite: 'None' },
    ],
    [
      'Cookie-Editor',
      { expirationDate: expires, hostOnly: false, session: false, storeId: null, sameSite: null },
      { expires },
    ],
    ['a Chrome extension, of a session', { session: true, sameSite: 'unspecified', storeId: '0' }, {}],
    [
      'a Firefox extension',
      {
        secure: false,
        sameSite: 'no_restriction',
        firstPartyDomain: '',
        partitionKey: null,
        storeId: 'firefox-default',
      },
      { secure: false },
    ],
    ['Selenium', { expiry: 1_900_000_000, sameSite: 'Strict' }, { expires: 1_900_000_000, sameSite: 'Strict' }],
    [
      'a newer Puppeteer, without the attribute',
      { expires: 1_900_000_000, sameSite: 'Default' },
      { expires: 1_900_000_000 },
    ],
    ['WebDriver BiDi, without the attribute', { sameSite: 'default' }, {}],
    ['Cypress', { expiry: 1_900_000_000, sameSite: 'lax' }, { expires: 1_900_000_000, sameSite: 'Lax' }],
    [
      'a HAR of Chrome',
      { expires: '2030-03-17T17:46:40.250Z', sameSite: 'Lax', comment: '' },
      { expires, sameSite: 'Lax' },
    ],
    ['a HAR with a zone', { expires: '2030-03-17T19:46:40.250+02:00' }, { expires }],
    ['a HAR, of a session', { expires: '' }, {}],
    ['the table of the developer tools', { expires: 'Session' }, {}],
    ['a Set-Cookie header', { expires: 'Sun, 17 Mar 2030 17:46:40 GMT' }, { expires: 1_900_000_000 }],
    ['an old Set-Cookie header', { expires: 'Sunday, 17-Mar-30 17:46:40 GMT' }, { expires: 1_900_000_000 }],
    ['asctime', { expires: 'Sun Mar 17 17:46:40 2030' }, { expires: 1_900_000_000 }],
    ['a script', { expires: 'Sun Mar 17 2030 17:46:40 GMT+0000 (UTC)' }, { expires: 1_900_000_000 }],
    ['a date that has passed', { expires: 'Thu, 01 Jan 1970 00:00:01 GMT' }, { expires: 1 }],
    ['__Host-', { name: '__Host-sid', domain: 'a.test' }, { name: '__Host-sid', domain: 'a.test' }],
  ])('reads a cookie of %s', (_, exported, expected) => {
    const { cookies } = parse({ cookies: [{ ...read, ...exported }] });
    expect(cookies).toEqual([{ ...read, ...expected }]);
    expect(parse({ cookies }).cookies).toEqual(cookies);
  });
});

describe('emulated visitor', () => {
  it.each([
    [{ userAgent: '' }, 'userAgent'],
    [{ userAgent: 'a\nb' }, 'userAgent'],
    [{ userAgent: 'x'.repeat(513) }, 'userAgent'],
    [{ httpCredentials: { username: 'a:b', password: '' } }, 'httpCredentials.username'],
    [{ httpCredentials: { username: 'a' } }, 'httpCredentials.password'],
    [{ ignoreCertErrors: 'yes' }, 'ignoreCertErrors'],
    [{ javascript: 'alert()' }, 'javascript'],
    [{ javascript: { after: 'x'.repeat(65_537) } }, 'javascript.after'],
    [{ css: 'x'.repeat(65_537) }, 'css'],
    [{ block: { types: ['document'] } }, 'block.types[0]'],
    [{ block: { urls: [''] } }, 'block.urls[0]'],
    [{ block: { urls: Array.from({ length: 101 }, () => '*') } }, 'block.urls'],
  ])('refuses a value out of its bounds: %#', (options, path) => {
    expect(problemsOf(options)).toEqual([{ path, message: expect.any(String) }]);
  });
});

describe('proxy', () => {
  const credentials = { username: 'harbour', password: 'master:key' };

  it.each([
    [{ server: 'http://proxy.test:3128' }, { server: 'http://proxy.test:3128' }],
    [{ server: 'http://proxy.test/' }, { server: 'http://proxy.test:80' }],
    [
      { server: 'HTTP://PROXY.test:3128', credentials },
      { server: 'http://proxy.test:3128', credentials },
    ],
    [{ server: 'http://harbour:master%3Akey@[::1]:3128' }, { server: 'http://[::1]:3128', credentials }],
  ])('reads %o', (proxy, expected) => {
    expect(parse({ proxy }).proxy).toEqual(expected);
  });

  it.each([
    [{}, 'proxy.server'],
    [{ server: 'proxy.test:3128' }, 'proxy.server'],
    [{ server: 'https://proxy.test:3128' }, 'proxy.server'],
    [{ server: 'socks5://proxy.test:1080' }, 'proxy.server'],
    [{ server: 'http://proxy.test:3128/path' }, 'proxy.server'],
    [{ server: 'http://proxy.test:99999' }, 'proxy.server'],
    [{ server: 'http://a%3Ab:c@proxy.test:3128' }, 'proxy.server'],
    [{ server: 'http://a:%zz@proxy.test:3128' }, 'proxy.server'],
    [{ server: 'http://a:b@proxy.test:3128', credentials }, 'proxy.server'],
    [{ server: 'http://proxy.test:3128', credentials: { username: 'a' } }, 'proxy.credentials.password'],
  ])('refuses %o', (proxy, path) => {
    expect(problemsOf({ proxy })).toEqual([{ path, message: expect.any(String) }]);
  });
});

describe('acceptCookieBanners and rejectCookieBanners', () => {
  it('turns both flags into one option, which is undefined when neither is set', () => {
    expect(parse({ acceptCookieBanners: true }).cookieBanners).toBe('accept');
    expect(parse({ rejectCookieBanners: true, acceptCookieBanners: false }).cookieBanners).toBe('reject');
    expect(parse({ rejectCookieBanners: false })).not.toHaveProperty('cookieBanners');
    expect(parse({ acceptCookieBanners: true })).not.toHaveProperty('acceptCookieBanners');
  });

  it('refuses requests that set both flags', () => {
    expect(problemsOf({ acceptCookieBanners: true, rejectCookieBanners: true })).toEqual([
      { path: 'rejectCookieBanners', message: expect.stringContaining('remove one of them') },
    ]);
  });
});
