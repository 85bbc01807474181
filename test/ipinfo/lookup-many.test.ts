import { beforeEach, describe, expect, it } from 'vitest';
import { InvalidIPError, IpapiClient, NotFoundError } from '../../src/ipinfo/mod.ts';
import { BRISBANE, body, collect, failureOf, json } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

const addresses = (count: number) => Array.from({ length: count }, (_, index) => `8.8.${index >> 8}.${index & 255}`);

describe('IpapiClient.lookupMany', () => {
  const upstream = upstreamPerTest();
  let client: IpapiClient;

  beforeEach(() => {
    upstream.answer = (response, request, nth) => {
      const ip = request.url?.split('/')[1];
      json(200, { ...BRISBANE, ip })(response, request, nth);
    };
    client = new IpapiClient({ baseUrl: upstream.url, retryDelayMs: 1 });
  });

  it('yields in input order, whatever the order of the answers', async () => {
    const answer = upstream.answer;
    upstream.answer = (response, request, nth) => {
      setTimeout(() => answer(response, request, nth), nth % 3 === 0 ? 0 : 10);
    };
    const ips = addresses(30);
    const results = await collect(client.lookupMany(ips));
    expect(results.map(({ ip, info }) => [ip, info?.ip])).toEqual(ips.map((ip) => [ip, ip]));
  });

  it('yields each address with its own info or error', async () => {
    const answer = upstream.answer;
    upstream.answer = (response, request, nth) =>
      (request.url === '/8.8.8.8/json/' ? body(404, '') : answer)(response, request, nth);
    const results = await collect(client.lookupMany(['1.1.1.1', '8.8.8.8', 'nonsense', '', '1.1.1.2']));
    expect(results.map(({ ip }) => ip)).toEqual(['1.1.1.1', '8.8.8.8', 'nonsense', '', '1.1.1.2']);
    expect(results.map(({ info }) => info?.ip)).toEqual(['1.1.1.1', undefined, undefined, undefined, '1.1.1.2']);
    expect(results[0]?.error).toBeUndefined();
    expect(results[1]?.error).toBeInstanceOf(NotFoundError);
    expect(results[2]?.error).toBeInstanceOf(InvalidIPError);
    expect(results[3]?.error).toBeInstanceOf(InvalidIPError);
  });

  it.each([
    [undefined, 8],
    [1, 1],
    [3, 3],
  ])('runs at most the given number of lookups (concurrency %s: %i)', async (concurrency, expected) => {
    let underWay = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const answer = upstream.answer;
    upstream.answer = (response, request, nth) => {
      underWay += 1;
      most = Math.max(most, underWay);
      waiting.push(() => {
        underWay -= 1;
        answer(response, request, nth);
      });
      if (underWay !== expected) return;
      // One more than expected would come meanwhile.
      setTimeout(() => {
        for (const send of waiting.splice(0)) send();
      }, 10);
    };
    await collect(client.lookupMany(addresses(24), { concurrency }));
    expect(most).toBe(expected);
  });

  it('shares one request between concurrent lookups of equal addresses', async () => {
    const results = await collect(client.lookupMany(['1.1.1.1', '1.1.1.1', '::ffff:1.1.1.1']));
    expect(results).toHaveLength(3);
    expect(upstream.sends).toBe(1);
  });

  it('takes only as many addresses as needed from an endless input', async () => {
    let taken = 0;
    function* endless(): Generator<string> {
      for (;;) {
        taken += 1;
        yield `8.8.${(taken >> 8) & 255}.${taken & 255}`;
      }
    }
    let seen = 0;
    for await (const { info } of client.lookupMany(endless(), { concurrency: 4 })) {
      expect(info?.city).toBe('Brisbane');
      seen += 1;
      if (seen === 10) break;
    }
    expect(taken).toBeLessThanOrEqual(14);
  });

  it('cancels running lookups when the consumer stops iterating', async () => {
    const closed = Promise.withResolvers<void>();
    const answer = upstream.answer;
    upstream.answer = (response, request, nth) =>
      request.url === '/8.8.8.8/json/' ? response.once('close', closed.resolve) : answer(response, request, nth);
    for await (const { ip } of client.lookupMany(['1.1.1.1', '8.8.8.8'])) {
      expect(ip).toBe('1.1.1.1');
      break;
    }
    await closed.promise;
  });

  it('rejects with the reason when it is aborted, and then ends', async () => {
    const controller = new AbortController();
    const all = client.lookupMany(addresses(100), { signal: controller.signal, concurrency: 2 });
    expect((await all.next()).value?.ip).toBe('8.8.0.0');
    controller.abort('enough');
    expect(await failureOf(all.next())).toBe('enough');
    expect(await all.next()).toEqual({ done: true, value: undefined });
    expect(upstream.sends).toBeLessThan(5);
  });

  it('yields nothing for an empty input', async () => {
    expect(await collect(client.lookupMany([]))).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a concurrency of %s', (concurrency) => {
    expect(() => client.lookupMany([], { concurrency })).toThrow('concurrency must be a whole number from 1');
  });

  it('refuses a string in place of a list', () => {
    expect(() => client.lookupMany('8.8.8.8')).toThrow('ips must be a list');
  });
});
