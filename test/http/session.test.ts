import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSessions, SESSION_MS } from '../../src/http/session/sessions.ts';
import { collectingLogger } from '../support/collecting-logger.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';

const KEY = 'first-secret';

describe('sessions', () => {
  const running = serviceForSuite(NO_BROWSER);
  const { logger, lines } = collectingLogger();
  let app: RunningApp;

  beforeAll(async () => {
    app = await serve(running.service, { apiKeys: [KEY, 'other-secret'], logger });
  });

  afterAll(() => app?.close());

  async function logIn(headers: Record<string, string> = {}) {
    const response = await app.post('/session', { key: KEY }, { headers });
    const [setCookie = ''] = response.headers.getSetCookie();
    return { response, setCookie, cookie: setCookie.split(';')[0] ?? '' };
  }

  const status = async (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    (await app.call(path, { ...init, headers })).status;

  it('begin with an API key, as a cookie that scripts and other sites cannot use', async () => {
    const { response, setCookie, cookie } = await logIn();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ data: { required: true, authenticated: true } });
    expect(setCookie).toMatch(/; path=\/; expires=[^;]+; samesite=strict; httponly$/i);
    expect(setCookie).not.toContain(KEY);
    expect(await status('/stats', { Cookie: cookie })).toBe(200);
  });

  it('have a Secure cookie behind TLS', async () => {
    const { setCookie } = await logIn({ 'X-Forwarded-Proto': 'https' });
    expect(setCookie).toMatch(/; secure$/);
  });

  it('do not begin with a wrong key', async () => {
    const response = await app.post('/session', { key: 'wrong' });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'unauthorized', error: 'The API key is wrong.' });
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it('are logged by the fingerprint of their key', async () => {
    await logIn();
    const line = lines.find(({ msg }) => msg === 'a session has begun');
    expect(line).toMatchObject({ api_key: expect.stringMatching(/^[\da-f]{8}$/), client_address: expect.any(String) });
    expect(JSON.stringify(lines)).not.toContain(KEY);
  });

  it('say whether a client needs to log in', async () => {
    const { cookie } = await logIn();
    const read = async (headers: Record<string, string>, from: Pick<RunningApp, 'call'> = app) =>
      Object(await (await from.call('/session', { headers })).json()).data;
    expect(await read({})).toEqual({ required: true, authenticated: false });
    expect(await read({ Cookie: cookie })).toEqual({ required: true, authenticated: true });
    expect(await read({ 'X-API-Key': KEY })).toEqual({ required: true, authenticated: true });
    expect(await read({}, running)).toEqual({ required: false, authenticated: true });
  });

  it('end with a logout, for every copy of the cookie', async () => {
    const { cookie } = await logIn();
    const response = await app.call('/session', { method: 'DELETE', headers: { Cookie: cookie, Origin: app.baseUrl } });
    expect(response.headers.getSetCookie()[0]).toMatch(/^capstan_session=; path=\/; expires=Thu, 01 Jan 1970/);
    expect(await status('/stats', { Cookie: cookie })).toBe(401);
  });

  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another port or subdomain', { 'Sec-Fetch-Site': 'same-site' }],
  ])('are not taken from a request of %s', async (_what, from) => {
    const { cookie } = await logIn();
    expect(await status('/stats', { Cookie: cookie, ...from })).toBe(401);
    expect(await status('/limits', { Cookie: cookie, ...from }, { method: 'PATCH' })).toBe(401);
  });

  it('change nothing for a request without a sign of its origin', async () => {
    const { cookie } = await logIn();
    const patch = { method: 'PATCH', body: '{"maxQueue":1000}' };
    const headers = { Cookie: cookie, 'Content-Type': 'application/json' };
    expect(await status('/limits', headers, patch)).toBe(401);
    expect(await status('/limits', { ...headers, Origin: 'http://evil.test' }, patch)).toBe(401);
    expect(await status('/limits', { ...headers, Origin: app.baseUrl }, patch)).toBe(200);
    expect(await status('/limits', { ...headers, 'Sec-Fetch-Site': 'same-origin' }, patch)).toBe(200);
  });

  it.each(['', 'x', 'a.b.c', `${(Date.now() + 1000).toString(36)}.random.c2lnbmF0dXJl`])(
    'cannot be made up: %j',
    async (token) => {
      expect(await status('/stats', { Cookie: `capstan_session=${token}` })).toBe(401);
    },
  );

  it('cannot be prolonged', async () => {
    const { cookie } = await logIn();
    const later = cookie.replace(/=[^.]+/, `=${(Date.now() + 10 * SESSION_MS).toString(36)}`);
    expect(await status('/stats', { Cookie: later })).toBe(401);
  });
});

describe('createSessions', () => {
  it('refuses a session after 12 hours', () => {
    let now = 1_800_000_000_000;
    const sessions = createSessions([KEY], () => now);
    const { token, client } = sessions.begin(KEY) ?? { token: '', client: '' };
    now += SESSION_MS - 1;
    expect(sessions.clientOf(token)).toBe(client);
    now += 1;
    expect(sessions.clientOf(token)).toBeUndefined();
  });

  it('knows the sessions of another process with the same key, and of no other key', () => {
    const { token = '' } = createSessions([KEY]).begin(KEY) ?? {};
    expect(createSessions(['other', KEY]).clientOf(token)).toBeDefined();
    expect(createSessions(['other']).clientOf(token)).toBeUndefined();
  });
});
