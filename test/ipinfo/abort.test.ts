import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttemptReport, IpapiClient, type IpapiOptions, TokenBucket } from '../../src/ipinfo/mod.ts';
import { BRISBANE, body, failureOf, json, silence } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

describe('IpapiClient, when its signal is aborted', () => {
  const upstream = upstreamPerTest();
  let controller: AbortController;
  const reason = { why: 'nobody waits' };

  beforeEach(() => {
    controller = new AbortController();
  });

  const clientWith = (options: IpapiOptions = {}) => new IpapiClient({ baseUrl: upstream.url, ...options });

  it('rejects with the reason and sends nothing when it is aborted before the start', async () => {
    controller.abort(reason);
    const call = { signal: controller.signal };
    const client = clientWith();
    const operations = [
      client.getIPInfo('8.8.8.8', 'json', call),
      client.getIPInfoRaw('8.8.8.8', 'xml', call),
      client.getField('8.8.8.8', 'city', call),
      client.getClientIPInfo('json', call),
      client.getClientIPInfoRaw('json', call),
      client.getClientField('city', call),
      client.getQuota(call),
      client.lookupMany(['8.8.8.8'], call).next(),
    ];
    for (const error of await Promise.all(operations.map(failureOf))) expect(error).toBe(reason);
    expect(upstream.sends).toBe(0);
  });

  it('rejects with the reason and sends nothing while it waits for a token', async () => {
    const rateLimiter = new TokenBucket({ ratePerSecond: 0.001 });
    const client = clientWith({ rateLimiter });
    await client.getIPInfo('1.1.1.1');
    const failure = failureOf(client.getIPInfo('8.8.8.8', 'json', { signal: controller.signal }));
    controller.abort(reason);
    expect(await failure).toBe(reason);
    expect(upstream.sends).toBe(1);
  });

  it('rejects with the reason while it waits for a limiter that ignores signals', async () => {
    const client = clientWith({ rateLimiter: { take: () => new Promise(() => {}) } });
    const failure = failureOf(client.getClientIPInfo('json', { signal: controller.signal }));
    controller.abort(reason);
    expect(await failure).toBe(reason);
  });

  it('rejects with the reason while it waits for a cache that never answers', async () => {
    const client = clientWith({ cache: { get: () => new Promise(() => {}), set: () => {} } });
    const failure = failureOf(client.getIPInfo('8.8.8.8', 'json', { signal: controller.signal }));
    controller.abort(reason);
    expect(await failure).toBe(reason);
  });

  it('rejects with the reason and closes the connection while it waits for the answer', async () => {
    const closed = new Promise<void>((resolve) => {
      upstream.answer = (response) => response.once('close', resolve);
    });
    const arrival = upstream.arrival();
    const failure = failureOf(clientWith().getIPInfo('8.8.8.8', 'json', { signal: controller.signal }));
    await arrival;
    controller.abort(reason);
    expect(await failure).toBe(reason);
    await closed;
    expect(upstream.sends).toBe(1);
  });

  it('rejects with the reason and closes the connection in the middle of the body', async () => {
    const reading = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    upstream.answer = (response) => {
      response.once('close', closed.resolve);
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{', () => reading.resolve());
    };
    const failure = failureOf(clientWith().getQuota({ signal: controller.signal }));
    await reading.promise;
    controller.abort(reason);
    expect(await failure).toBe(reason);
    await closed.promise;
  });

  it('rejects with the reason and does not retry in the pause before a retry', async () => {
    upstream.answer = body(500, '');
    const pausing = Promise.withResolvers<AttemptReport>();
    const client = clientWith({ retryDelayMs: 60_000, onAttempt: pausing.resolve });
    const failure = failureOf(client.getIPInfo('8.8.8.8', 'json', { signal: controller.signal }));
    expect((await pausing.promise).retryInMs).toBe(60_000);
    controller.abort(reason);
    expect(await failure).toBe(reason);
    expect(upstream.sends).toBe(1);
  });

  it('rejects with the reason of AbortSignal.timeout', async () => {
    upstream.answer = silence;
    const signal = AbortSignal.timeout(30);
    const error = await failureOf(clientWith().getIPInfo('8.8.8.8', 'json', { signal }));
    expect(error).toBe(signal.reason);
  });

  it('rejects with the default AbortError when no reason was given', async () => {
    upstream.answer = silence;
    const failure = failureOf(clientWith().getIPInfo('8.8.8.8', 'json', { signal: controller.signal }));
    controller.abort();
    expect(await failure).toMatchObject({ name: 'AbortError' });
  });

  it('ignores an abort after the answer, and leaves no listener on the signal', async () => {
    upstream.answer = json(200, BRISBANE);
    expect(await clientWith().getIPInfo('1.1.1.1', 'json', { signal: controller.signal })).toEqual(BRISBANE);
    expect(await clientWith().getClientIPInfo('json', { signal: controller.signal })).toEqual(BRISBANE);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    controller.abort(reason);
  });
});
