import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLoginLimits } from '../../src/http/session/login-limits.ts';
import { createSessions, SESSION_MS } from '../../src/http/session/sessions.ts';
import { createNoDatabase } from '../../src/storage/memory/no-database.ts';
import { collectingLogger } from '../support/collecting-logger.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER, startService } from '../support/service.ts';
import { describeWithTenants } from './tenants.ts';

const KEY = 'first-secret';

/** Returns the cookie of a session for the same service at another port, as behind one proxy. */
function atPort({ baseUrl }: { readonly baseUrl: string }, cookie: string): string {
  return cookie.replace(/^capstan_session_\d+/, `capstan_session_${new URL(baseUrl).port}`);
}

describe('sessions', () => {
  const running = serviceForSuite(NO_BROWSER);
  const { logger, lines } = collectingLogger();
  let app: RunningApp;

  beforeAll(async () => {
    app = await serve(running.service, { apiKey: [KEY, 'other-secret'], logger });
  });

  afterAll(() => app?.close());

  async function logIn(headers: Record<string, string> = {}) {
    const response = await app.post('/session', { key: KEY }, { headers });
    const [setCookie = ''] = response.headers.getSetCookie();
    return { response, setCookie, cookie: setCookie.split(';')[0] ?? '' };
  }

  const status = async (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    (await app.call(path, { ...init, headers })).status;

  it('exchanges an API key for a cookie that scripts and other sites cannot use', async () => {
    const { response, setCookie, cookie } = await logIn();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ data: { required: true, authenticated: true } });
    expect(setCookie).toMatch(/; path=\/; expires=[^;]+; samesite=strict; httponly$/i);
    expect(setCookie).not.toContain(KEY);
    expect(await status('/stats', { Cookie: cookie })).toBe(200);
  });

  it.each(['https', 'HTTPS', 'https, http', 'https,https'])(
    'sets a Secure cookie behind TLS, with X-Forwarded-Proto: %s',
    async (scheme) => {
      const { setCookie } = await logIn({ 'X-Forwarded-Proto': scheme });
      expect(setCookie).toMatch(/; secure$/);
    },
  );

  it.each(['http', 'http, https', 'httpsx', ''])('sets no Secure cookie with X-Forwarded-Proto: %s', async (scheme) => {
    expect((await logIn({ 'X-Forwarded-Proto': scheme })).setCookie).not.toContain('secure');
  });

  it('gives each port of a host a cookie of its own, and a service below a path that path', async () => {
    const { port } = new URL(app.baseUrl);
    expect((await logIn()).cookie).toMatch(new RegExp(`^capstan_session_${port}=`));
    expect((await logIn({ 'X-Forwarded-Prefix': '/capstan' })).setCookie).toContain('; path=/capstan/;');
  });

  it('answers 401 to a wrong key', async () => {
    const response = await app.post('/session', { key: 'wrong' });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'unauthorized', error: 'The API key is wrong.' });
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it('logs the fingerprint of the key of a session', async () => {
    await logIn();
    const line = lines.find(({ msg }) => msg === 'a session has begun');
    expect(line).toMatchObject({ api_key: expect.stringMatching(/^[\da-f]{8}$/), client_address: expect.any(String) });
    expect(JSON.stringify(lines)).not.toContain(KEY);
  });

  it('reports whether a client needs to log in', async () => {
    const { cookie } = await logIn();
    const read = async (headers: Record<string, string>, from: Pick<RunningApp, 'call'> = app) =>
      Object(await (await from.call('/session', { headers })).json()).data;
    expect(await read({})).toEqual({ required: true, authenticated: false, scope: null });
    expect(await read({ Cookie: cookie })).toEqual({ required: true, authenticated: true, scope: 'admin' });
    expect(await read({ 'X-API-Key': KEY })).toEqual({ required: true, authenticated: true, scope: 'admin' });
    expect(await read({}, running)).toEqual({ required: false, authenticated: true, scope: 'admin' });
  });

  it('ends a session for every copy of its cookie on logout', async () => {
    const { cookie } = await logIn();
    const response = await app.call('/session', { method: 'DELETE', headers: { Cookie: cookie, Origin: app.baseUrl } });
    expect(response.headers.getSetCookie()[0]).toMatch(/^capstan_session_\d+=; path=\/; expires=Thu, 01 Jan 1970/);
    expect(await status('/stats', { Cookie: cookie })).toBe(401);
  });

  it('has ended a session also after a restart', async () => {
    const dbPath = `${running.directory}/sessions.db`;
    const options = { apiKey: [KEY] };
    const first = await startService({ ...NO_BROWSER, dbPath }, options);
    const begin = async () =>
      (await first.post('/session', { key: KEY })).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const [ended, living] = [await begin(), await begin()];
    const headers = { Cookie: ended, Origin: first.baseUrl };
    expect((await first.call('/session', { method: 'DELETE', headers })).status).toBe(200);
    await first.stop();
    const second = await startService({ ...NO_BROWSER, dbPath }, options);
    const statuses = [ended, living].map(
      async (cookie) => (await second.call('/stats', { headers: { Cookie: atPort(second, cookie) } })).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 200]);
    await second.stop();
  });

  it('continues sessions while the database is away, and refuses those of which it knows nothing', async () => {
    const here = await startService(NO_BROWSER, { apiKey: [KEY] });
    const { cookie } = await logIn();
    const known = (await here.post('/session', { key: KEY })).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    await here.loseDatabase();
    const get = (Cookie: string, path = '/stats') => here.call(path, { headers: { Cookie } });
    expect((await get(known)).status).toBe(200);
    const unknown = atPort(here, cookie);
    const refused = await get(unknown);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'database_unavailable' });
    expect(await (await get(unknown, '/session')).json()).toMatchObject({ data: { authenticated: false } });

    const logOut = { method: 'DELETE', headers: { Cookie: known, Origin: here.baseUrl } };
    expect((await here.call('/session', logOut)).status).toBe(503);
    expect((await get(known)).status).toBe(401);
    await here.stop();
  });

  it('answers 429 after 10 wrong logins from an address, also with the right key, and not to requests with a key', async () => {
    const other = await serve(running.service, { apiKey: [KEY] });
    const logInWith = (key: string) => other.post('/session', { key });
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1) statuses.push((await logInWith('wrong')).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    const refused = await logInWith(KEY);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'too_many_logins' });
    expect((await other.call('/stats', { headers: { 'X-API-Key': KEY } })).status).toBe(200);
    await other.close();
  });

  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another port or subdomain', { 'Sec-Fetch-Site': 'same-site' }],
  ])('ignores the cookie in a request from %s', async (_what, from) => {
    const { cookie } = await logIn();
    expect(await status('/stats', { Cookie: cookie, ...from })).toBe(401);
    expect(await status('/limits', { Cookie: cookie, ...from }, { method: 'PATCH' })).toBe(401);
  });

  it('ignores the cookie in a request that does not show its origin', async () => {
    const { cookie } = await logIn();
    const patch = { method: 'PATCH', body: '{"maxQueue":1000}' };
    const headers = { Cookie: cookie, 'Content-Type': 'application/json' };
    expect(await status('/limits', headers, patch)).toBe(401);
    expect(await status('/limits', { ...headers, Origin: 'http://evil.test' }, patch)).toBe(401);
    expect(await status('/limits', { ...headers, Origin: app.baseUrl }, patch)).toBe(200);
    expect(await status('/limits', { ...headers, 'Sec-Fetch-Site': 'same-origin' }, patch)).toBe(200);
  });

  it.each(['', 'x', 'a.b.c', `${(Date.now() + 1000).toString(36)}.random.c2lnbmF0dXJl`])(
    'refuses the forged token %j',
    async (token) => {
      expect(await status('/stats', { Cookie: `capstan_session_${new URL(app.baseUrl).port}=${token}` })).toBe(401);
    },
  );

  it('refuses a token whose expiry was changed', async () => {
    const { cookie } = await logIn();
    const later = cookie.replace(/=[^.]+/, `=${(Date.now() + 10 * SESSION_MS).toString(36)}`);
    expect(await status('/stats', { Cookie: later })).toBe(401);
  });
});

describeWithTenants((start) => {
  it('ends a session at every api node', async () => {
    await using tenants = await start(NO_BROWSER);
    const { apps, one } = tenants;
    const begun = await one.post('/session', { key: 'shop-key' });
    const Cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    // Behind one address, all nodes see the same port, which the cookie is named after.
    const cookieFor = (baseUrl: string) => Cookie.replace(/_\d+=/, `_${new URL(baseUrl).port}=`);
    const statusOf = async (app: (typeof apps)[number]) =>
      (await app.call('/stats', { headers: { Cookie: cookieFor(app.baseUrl) } })).status;
    const statuses = () => Promise.all(apps.map(statusOf));
    expect(await statuses()).toEqual(apps.map(() => 200));
    const ended = await one.call('/session', { method: 'DELETE', headers: { Cookie, Origin: one.baseUrl } });
    expect(ended.status).toBe(200);
    expect(await statuses()).toEqual(apps.map(() => 401));
  });
});

describe('createLoginLimits', () => {
  it('counts the addresses of a network of IPv6 together, and lets logins through again after a while', () => {
    let now = 0;
    const logins = createLoginLimits(() => now);
    for (let n = 1; n <= 10; n += 1) logins.wrong(`2001:db8::${n}`);
    expect(() => logins.refuse('2001:db8:0:0:1:2:3:4')).toThrow(/10 logins/);
    expect(() => logins.refuse('2001:db8:0:1::1')).not.toThrow();
    expect(() => logins.refuse('::ffff:192.0.2.1')).not.toThrow();
    now += 6_001;
    expect(() => logins.refuse('2001:db8::1')).not.toThrow();
  });

  it('limits the sessions that begin with one key', () => {
    const logins = createLoginLimits(() => 0);
    for (let n = 0; n < 60; n += 1) logins.right('key');
    expect(() => logins.right('key')).toThrow(/60 sessions/);
    expect(() => logins.right('other')).not.toThrow();
  });
});

describe('createSessions', () => {
  const stores = createNoDatabase();

  it('keeps a session ended, however many made-up tokens are ended after it', async () => {
    const sessions = createSessions([KEY], stores.idempotency);
    const { token = '' } = sessions.begin(KEY) ?? {};
    const { token: other = '' } = sessions.begin(KEY) ?? {};
    await sessions.end(token);
    const [expiry = ''] = token.split('.');
    for (let n = 0; n < 10_050; n += 1) await sessions.end(`${expiry}.made-up-${n}.c2lnbmF0dXJl`);
    expect(await sessions.clientOf(token)).toBeUndefined();
    expect(await sessions.clientOf(other)).toBeDefined();
  });

  it('keeps a session that is ended with a token whose signature is wrong', async () => {
    const sessions = createSessions([KEY, 'other'], stores.idempotency);
    const { token = '' } = sessions.begin(KEY) ?? {};
    const { token: other = '' } = sessions.begin('other') ?? {};
    const [expiry = '', random = '', signature = ''] = token.split('.');
    const wrong = [other.split('.')[2] ?? '', 'c2lnbmF0dXJl', '', `${signature}.${signature}`];
    for (const each of wrong) await sessions.end(`${expiry}.${random}.${each}`);
    expect(await sessions.clientOf(token)).toBeDefined();
  });

  it('refuses sessions of earlier processes where no database keeps which of them have ended', async () => {
    const { token = '' } = createSessions([KEY], undefined).begin(KEY) ?? {};
    expect(await createSessions([KEY], undefined).clientOf(token)).toBeUndefined();
    expect(await createSessions([KEY], stores.idempotency).clientOf(token)).toBeUndefined();
  });

  it('refuses a session after 12 hours', async () => {
    let now = 1_800_000_000_000;
    const sessions = createSessions([KEY], stores.idempotency, () => now);
    const { token, client } = sessions.begin(KEY) ?? { token: '', client: '' };
    now += SESSION_MS - 1;
    expect(await sessions.clientOf(token)).toBe(client);
    now += 1;
    expect(await sessions.clientOf(token)).toBeUndefined();
  });

  it('accepts sessions of another process with the same key, but not those of other keys', async () => {
    const of = (...keys: string[]) => createSessions(keys, stores.idempotency);
    const { token = '' } = of(KEY).begin(KEY) ?? {};
    expect(await of('other', KEY).clientOf(token)).toBeDefined();
    expect(await of('other').clientOf(token)).toBeUndefined();
  });
});
