import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { IpapiClient, type IpapiOptions } from '../../src/ipinfo/mod.ts';
import { BRISBANE, body, failureOf, json } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

const KEY = 'k3y&/+';

describe('redirects of IpapiClient', () => {
  const upstream = upstreamPerTest();
  const stranger = upstreamPerTest();

  const clientWith = (options: IpapiOptions) =>
    new IpapiClient({ baseUrl: upstream.url, apiKey: KEY, retryDelayMs: 1, ...options });

  const redirectTo = (location: string, status = 302) => body(status, 'moved', { location });

  it.each(['header', 'query'] as const)('never sends the key to another host (%s)', async (apiKeyMode) => {
    upstream.answer = (response, request) => {
      // A server that copies the query into its redirect, as many do.
      const { search } = new URL(request.url ?? '', upstream.url);
      response.writeHead(307, { location: `${stranger.url}elsewhere/${search}` }).end();
    };
    expect(await clientWith({ apiKeyMode }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);
    expect(stranger.sends).toBe(1);
    expect(stranger.seen[0]?.headers).not.toHaveProperty('authorization');
    const told = inspect(stranger.seen);
    for (const spelling of [KEY, encodeURIComponent(KEY)]) expect(told).not.toContain(spelling);
    expect(stranger.seen[0]?.path).toBe('/elsewhere/');
  });

  it('does not follow a redirect that contains the key in its path', async () => {
    upstream.answer = redirectTo(`${stranger.url}${encodeURIComponent(KEY)}/`);
    expect(await failureOf(clientWith({}).getIPInfo('1.1.1.1'))).toMatchObject({
      name: 'UnexpectedStatusError',
      message: 'unexpected status code: 302',
      status: 302,
    });
    expect(stranger.sends).toBe(0);
  });

  it('does not send the key again when another host redirects back', async () => {
    upstream.answer = redirectTo(`${stranger.url}a`);
    stranger.answer = (response, request) => {
      if (request.url === '/a') response.writeHead(301, { location: '/b' }).end();
      else json(200, BRISBANE)(response, request, 0);
    };
    await clientWith({}).getIPInfo('1.1.1.1');
    expect(stranger.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/a', undefined],
      ['/b', undefined],
    ]);
  });

  it.each([
    ['header', '/there/'],
    ['query', `/there/?key=${encodeURIComponent(KEY)}`],
  ] as const)('keeps the key on the same host (%s)', async (apiKeyMode, path) => {
    upstream.answer = (response, request, nth) =>
      nth === 1 ? redirectTo('/there/')(response, request, nth) : json(200, BRISBANE)(response, request, nth);
    expect(await clientWith({ apiKeyMode }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);
    expect(upstream.seen[1]?.path).toBe(path);
    expect(upstream.seen[1]?.headers.authorization).toBe(apiKeyMode === 'header' ? `Bearer ${KEY}` : undefined);
  });

  it('waits for a token before each hop, and counts all hops as one attempt', async () => {
    let tokens = 0;
    const attempts: number[] = [];
    upstream.answer = redirectTo(stranger.url);
    const rateLimiter = {
      take: async () => {
        tokens += 1;
      },
    };
    await clientWith({ rateLimiter, onAttempt: ({ attempt }) => attempts.push(attempt) }).getIPInfo('1.1.1.1');
    expect([tokens, attempts]).toEqual([2, [0]]);
  });

  it('applies the timeout to all hops together, without their waits for tokens', async () => {
    upstream.answer = redirectTo(stranger.url);
    stranger.answer = (response, request, nth) => {
      setTimeout(() => json(200, BRISBANE)(response, request, nth), 30);
    };
    const rateLimiter = { take: () => pause(2_000) };
    expect(await clientWith({ rateLimiter, timeoutMs: 1_900, retries: 0 }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);

    upstream.answer = (response, request, nth) => {
      setTimeout(() => redirectTo('/on/')(response, request, nth), 60);
    };
    const error = await failureOf(clientWith({ timeoutMs: 140, retries: 0 }).getIPInfo('1.1.1.1'));
    expect(error).toMatchObject({ name: 'TimeoutError' });
  });

  it('shares the retries among the hops', async () => {
    upstream.answer = redirectTo(stranger.url);
    stranger.answer = body(500, '');
    expect(await failureOf(clientWith({ retries: 2 }).getIPInfo('1.1.1.1'))).toMatchObject({ attempts: 3 });
    expect([upstream.sends, stranger.sends]).toEqual([1, 3]);
  });

  it('gives up on a redirect loop', async () => {
    upstream.answer = redirectTo('/again/', 308);
    expect(await failureOf(clientWith({}).getIPInfo('1.1.1.1'))).toMatchObject({
      name: 'UnexpectedStatusError',
      message: 'unexpected status code: 308',
    });
    expect(upstream.sends).toBe(6);
  });

  it.each(['file:///etc/passwd', 'http://', 'javascript:alert(1)'])('follows no redirect to %s', async (location) => {
    upstream.answer = redirectTo(location);
    expect(await failureOf(clientWith({}).getIPInfo('1.1.1.1'))).toMatchObject({ name: 'UnexpectedStatusError' });
  });
});
