import { describe, expect, it } from 'vitest';
import { type InfoCache, type IPInfo, IpapiClient, type IpapiOptions } from '../../src/ipinfo/mod.ts';
import { BRISBANE, body, failureOf, inTurn, json, silence } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

describe('shared lookups of IpapiClient', () => {
  const upstream = upstreamPerTest();

  const clientWith = (options: IpapiOptions = {}) =>
    new IpapiClient({ baseUrl: upstream.url, retryDelayMs: 1, ...options });

  /** Delays the answers of the upstream until the returned function is called. */
  const holdAnswer = (): (() => void) => {
    const release = Promise.withResolvers<void>();
    upstream.answer = (response, request, nth) => {
      void release.promise.then(() => json(200, BRISBANE)(response, request, nth));
    };
    return release.resolve;
  };

  /** A cache whose content the test can read. */
  const openCache = (): InfoCache & { readonly records: Map<string, IPInfo> } => {
    const records = new Map<string, IPInfo>();
    return { records, get: (key) => records.get(key), set: (key, info) => records.set(key, info) };
  };

  describe('in flight', () => {
    it.each([undefined, { max: 10, ttlMs: 1000 }])(
      'sends one request for a hundred equal lookups (cache: %o)',
      async (cache) => {
        const client = clientWith({ cache });
        const infos = await Promise.all(Array.from({ length: 100 }, () => client.getIPInfo('1.1.1.1')));
        expect(infos).toEqual(Array.from({ length: 100 }, () => BRISBANE));
        expect(upstream.sends).toBe(1);
      },
    );

    it('treats different spellings of one address as equal', async () => {
      const client = clientWith();
      await Promise.all(['1.1.1.1', '::ffff:1.1.1.1', '::FFFF:101:101'].map((ip) => client.getIPInfo(ip)));
      await Promise.all(['2606:4700::1111', '2606:4700:0:0::1111'].map((ip) => client.getIPInfo(ip)));
      expect(upstream.sends).toBe(2);
    });

    it('shares fields and raw bodies, and gives each caller its own bytes', async () => {
      const client = clientWith();
      const [one, other] = await Promise.all([
        client.getIPInfoRaw('1.1.1.1', 'json'),
        client.getIPInfoRaw('1.1.1.1', 'json'),
      ]);
      one.fill(0);
      expect(JSON.parse(new TextDecoder().decode(other))).toEqual(BRISBANE);
      await Promise.all([client.getField('1.1.1.1', 'city'), client.getField('1.1.1.1', 'city')]);
      expect(upstream.sends).toBe(2);
    });

    it("does not share different lookups, nor lookups of the caller's own address", async () => {
      const client = clientWith();
      await Promise.all([
        client.getIPInfo('1.1.1.1'),
        client.getIPInfo('1.1.1.2'),
        client.getIPInfoRaw('1.1.1.1', 'json'),
        client.getField('1.1.1.1', 'city'),
        client.getField('1.1.1.1', 'org'),
        client.getClientIPInfo(),
        client.getClientIPInfo(),
      ]);
      expect(upstream.sends).toBe(7);
    });

    it('rejects for all callers alike, and sends a new request for the next lookup', async () => {
      upstream.answer = inTurn(body(404, ''), json(200, BRISBANE));
      const client = clientWith();
      const errors = await Promise.all([1, 2, 3].map(() => failureOf(client.getIPInfo('1.1.1.1'))));
      for (const error of errors) expect(error).toMatchObject({ name: 'NotFoundError' });
      expect(upstream.sends).toBe(1);
      expect(await client.getIPInfo('1.1.1.1')).toEqual(BRISBANE);
    });

    it('continues a lookup for the other callers when the caller that started it aborts', async () => {
      const release = holdAnswer();
      const client = clientWith();
      const controller = new AbortController();
      const arrival = upstream.arrival();
      const first = failureOf(client.getIPInfo('1.1.1.1', 'json', { signal: controller.signal }));
      const second = client.getIPInfo('1.1.1.1');
      await arrival;
      controller.abort('gone');
      expect(await first).toBe('gone');
      release();
      expect(await second).toEqual(BRISBANE);
      expect(upstream.sends).toBe(1);
    });

    it('aborts a lookup when its last caller aborts, and sends a new request for the next caller', async () => {
      const closed = Promise.withResolvers<void>();
      upstream.answer = inTurn((response) => response.once('close', closed.resolve), json(200, BRISBANE));
      const client = clientWith();
      const controllers = [new AbortController(), new AbortController()];
      const arrival = upstream.arrival();
      const failures = controllers.map(({ signal }) => failureOf(client.getIPInfo('1.1.1.1', 'json', { signal })));
      await arrival;
      controllers[0]?.abort('first');
      controllers[1]?.abort('second');
      expect(await Promise.all(failures)).toEqual(['first', 'second']);
      expect(await client.getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      await closed.promise;
      expect(upstream.sends).toBe(2);
    });

    it('continues a lookup for a caller that joins at the moment when the last one aborts', async () => {
      const release = holdAnswer();
      const client = clientWith();
      const controller = new AbortController();
      const arrival = upstream.arrival();
      const first = failureOf(client.getIPInfo('1.1.1.1', 'json', { signal: controller.signal }));
      await arrival;
      controller.abort('gone');
      const second = client.getIPInfo('1.1.1.1');
      expect(await first).toBe('gone');
      release();
      expect(await second).toEqual(BRISBANE);
      expect(upstream.sends).toBe(1);
    });

    it('does not share lookups between callers with different timeouts', async () => {
      upstream.answer = inTurn(silence, json(200, BRISBANE));
      const client = clientWith({ retries: 0 });
      const arrival = upstream.arrival();
      const hasty = failureOf(client.getIPInfo('1.1.1.1', 'json', { timeoutMs: 3_000 }));
      await arrival;
      expect(await client.getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(await hasty).toMatchObject({ name: 'TimeoutError' });
    });
  });

  describe('the cache', () => {
    it('caches nothing by default', async () => {
      const client = clientWith();
      await client.getIPInfo('1.1.1.1');
      await client.getIPInfo('1.1.1.1');
      expect(upstream.sends).toBe(2);
    });

    it('answers the second lookup without a request, in any spelling', async () => {
      const client = clientWith({ cache: { max: 10, ttlMs: 60_000 } });
      await client.getIPInfo('::ffff:1.1.1.1');
      expect(await client.getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(upstream.sends).toBe(1);
    });

    it('evicts the least recently used record when it is full', async () => {
      const client = clientWith({ cache: { max: 2, ttlMs: 60_000 } });
      for (const ip of ['1.1.1.1', '1.1.1.2', '1.1.1.1', '1.1.1.3', '1.1.1.1', '1.1.1.2']) await client.getIPInfo(ip);
      expect(upstream.seen.map(({ path }) => path.split('/')[1])).toEqual(['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.2']);
    });

    it('evicts a record after its time to live', async () => {
      const client = clientWith({ cache: { max: 2, ttlMs: 1 } });
      await client.getIPInfo('1.1.1.1');
      await new Promise((resolve) => setTimeout(resolve, 10));
      await client.getIPInfo('1.1.1.1');
      expect(upstream.sends).toBe(2);
    });

    it('uses one cache key for each address', async () => {
      const cache = openCache();
      const client = clientWith({ cache });
      for (const ip of ['::ffff:1.1.1.1', '1.1.1.1', '2606:4700:0::1111']) await client.getIPInfo(ip);
      expect([...cache.records.keys()]).toEqual(['1.1.1.1', '2606:4700::1111']);
    });

    it.each<[string, ReturnType<typeof json>]>([
      ['a failure', body(404, '')],
      ['an error record with 200', json(200, { error: true, reason: 'RateLimited' })],
      ['a reserved address', json(200, { ip: '1.1.1.1', reserved: true })],
      ['what cannot be read', body(200, 'hello')],
    ])('never stores %s', async (_what, answer) => {
      upstream.answer = answer;
      const cache = openCache();
      const client = clientWith({ cache });
      await failureOf(client.getIPInfo('1.1.1.1'));
      await failureOf(client.getIPInfo('1.1.1.1'));
      expect(upstream.sends).toBe(2);
      expect(cache.records.size).toBe(0);
    });

    it("never stores the caller's own address, nor an address that the upstream reports as reserved", async () => {
      const cache = openCache();
      const client = clientWith({ cache });
      await client.getClientIPInfo();
      for (const ip of ['10.0.0.1', '::1', '::ffff:192.168.1.1']) await client.getIPInfo(ip);
      expect(cache.records.size).toBe(0);
    });

    it('accepts an asynchronous cache, whose failure costs only a request', async () => {
      const late: InfoCache = { get: async () => ({ ...BRISBANE, city: 'cached' }), set: async () => {} };
      expect(await clientWith({ cache: late }).getIPInfo('1.1.1.1')).toMatchObject({ city: 'cached' });
      const broken: InfoCache[] = [
        {
          get: () => {
            throw new Error('get');
          },
          set: () => {
            throw new Error('set');
          },
        },
        {
          get: async () => {
            throw new Error('get');
          },
          set: async () => {
            throw new Error('set');
          },
        },
      ];
      for (const cache of broken) expect(await clientWith({ cache }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(upstream.sends).toBe(2);
    });

    it('returns records that callers cannot modify', async () => {
      const info = await clientWith({ cache: { max: 1, ttlMs: 1000 } }).getIPInfo('1.1.1.1');
      expect(Object.isFrozen(info)).toBe(true);
    });
  });
});
