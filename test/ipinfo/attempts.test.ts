import { setTimeout as pause } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type AttemptReport,
  BodyTooLargeError,
  IpapiClient,
  type IpapiOptions,
  LimiterError,
  NetworkError,
  TimeoutError,
  TokenBucket,
} from '../../src/ipinfo/mod.ts';
import { BRISBANE, body, failureOf, hangUp, inTurn, json, silence, Upstream } from './upstream.ts';
import { upstreamPerTest } from './upstream-per-test.ts';

describe('attempts of IpapiClient', () => {
  const upstream = upstreamPerTest();
  let reports: AttemptReport[];

  beforeEach(() => {
    reports = [];
  });

  const clientWith = (options: IpapiOptions = {}) =>
    new IpapiClient({
      baseUrl: upstream.url,
      retryDelayMs: 1,
      onAttempt: (report) => reports.push(report),
      ...options,
    });

  describe('retries', () => {
    it.each([0, 1, 2, 5])('makes exactly %i retries on a server that keeps failing', async (retries) => {
      upstream.answer = body(500, '');
      const error = await failureOf(clientWith({ retries }).getIPInfo('8.8.8.8'));
      expect(upstream.sends).toBe(retries + 1);
      expect(error).toMatchObject({ attempts: retries + 1 });
      expect(reports.map(({ attempt }) => attempt)).toEqual(Array.from({ length: retries + 1 }, (_, index) => index));
    });

    it('sends 3 requests by default', async () => {
      upstream.answer = hangUp;
      const error = await failureOf(clientWith().getIPInfo('8.8.8.8'));
      expect(error).toBeInstanceOf(NetworkError);
      expect(error).toMatchObject({ code: 'network_error', status: null, attempts: 3, retryable: true });
      expect(upstream.sends).toBe(3);
    });

    it('retries after every kind of temporary failure, and then returns the answer', async () => {
      upstream.answer = inTurn(hangUp, body(502, ''), body(599, ''), json(200, BRISBANE));
      expect(await clientWith({ retries: 3 }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(upstream.sends).toBe(4);
    });

    it('counts attempts that never reach the server', async () => {
      const gone = await new Upstream().listen();
      const { url } = gone;
      await gone[Symbol.asyncDispose]();
      const error = await failureOf(clientWith({ baseUrl: url }).getIPInfo('8.8.8.8'));
      expect(error).toMatchObject({ name: 'NetworkError', reason: 'ECONNREFUSED', attempts: 3 });
    });

    it('retries when the body breaks off', async () => {
      upstream.answer = inTurn(
        (response) => {
          response.writeHead(200, { 'content-length': '1000' });
          response.write('{"ip":', () => response.socket?.destroy());
        },
        json(200, BRISBANE),
      );
      expect(await clientWith().getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(upstream.sends).toBe(2);
    });

    it('retries when a compressed body breaks off', async () => {
      const packed = gzipSync(JSON.stringify(BRISBANE));
      upstream.answer = inTurn(
        (response) => {
          response.writeHead(200, { 'content-encoding': 'gzip' });
          response.write(packed.subarray(0, 60), () => response.socket?.destroy());
        },
        json(200, BRISBANE),
      );
      expect(await clientWith().getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(upstream.sends).toBe(2);
    });

    it('does not retry when the body cannot be decompressed', async () => {
      upstream.answer = body(200, 'this is no gzip', { 'content-encoding': 'gzip' });
      expect(await failureOf(clientWith().getIPInfo('1.1.1.1'))).toMatchObject({ name: 'InvalidResponseError' });
      expect(upstream.sends).toBe(1);
    });

    it.each([400, 401, 403, 404, 405, 408, 409, 413, 425, 429, 451])('never retries a %i', async (status) => {
      upstream.answer = body(status, '', { 'retry-after': '0' });
      await failureOf(clientWith().getIPInfo('8.8.8.8'));
      expect(upstream.sends).toBe(1);
    });

    it('ignores Retry-After for the pause after a 503', async () => {
      upstream.answer = inTurn(body(503, '', { 'retry-after': '3600' }), json(200, BRISBANE));
      await clientWith().getIPInfo('8.8.8.8');
      expect(reports.map(({ status, retryInMs }) => [status, retryInMs])).toEqual([
        [503, 1],
        [200, null],
      ]);
    });

    it('pauses between attempts', async () => {
      const arrivals: number[] = [];
      upstream.answer = (response) => {
        arrivals.push(performance.now());
        response.writeHead(500).end();
      };
      await failureOf(clientWith({ retryDelayMs: 60 }).getIPInfo('8.8.8.8'));
      const [first = 0, second = 0, third = 0] = arrivals;
      // Timers may fire up to a millisecond early.
      expect(second - first).toBeGreaterThan(59);
      expect(third - second).toBeGreaterThan(59);
      expect(reports.map(({ retryInMs }) => retryInMs)).toEqual([60, 60, null]);
    });

    it('retries with a pause of 0', async () => {
      upstream.answer = body(500, '');
      await failureOf(clientWith({ retryDelayMs: 0 }).getIPInfo('8.8.8.8'));
      expect(upstream.sends).toBe(3);
    });

    it('reports each attempt once, and survives an observer that throws', async () => {
      upstream.answer = inTurn(hangUp, body(500, 'x'), json(200, BRISBANE));
      const client = clientWith({
        onAttempt: (report) => {
          reports.push(report);
          throw new Error('reporter');
        },
      });
      expect(await client.getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(reports).toMatchObject([
        { attempt: 0, url: `${upstream.url}1.1.1.1/json/`, status: null, failure: 'ECONNRESET', retryInMs: 1 },
        { attempt: 1, status: 500, failure: null, retryInMs: 1 },
        { attempt: 2, status: 200, failure: null, retryInMs: null },
      ]);
    });
  });

  describe('tokens', () => {
    it('takes one token before each send, including retries', async () => {
      const order: string[] = [];
      upstream.answer = (response, _request, nth) => {
        order.push(`send ${nth}`);
        response.writeHead(500).end();
      };
      const rateLimiter = {
        take: async () => {
          await pause(5);
          order.push('token');
        },
      };
      await failureOf(clientWith({ rateLimiter }).getIPInfo('8.8.8.8'));
      expect(order).toEqual(['token', 'send 1', 'token', 'send 2', 'token', 'send 3']);
    });

    it('spaces requests', async () => {
      const client = clientWith({ rateLimiter: new TokenBucket({ ratePerSecond: 25 }) });
      const started = performance.now();
      await Promise.all(['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'].map((ip) => client.getIPInfo(ip)));
      expect(performance.now() - started).toBeGreaterThan(110);
    });

    it('does not count the wait for a token towards the timeout', async () => {
      const rateLimiter = { take: () => pause(2_000) };
      expect(await clientWith({ rateLimiter, timeoutMs: 1_900 }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);
      expect(reports[0]?.waitedMs).toBeGreaterThan(1_990);
    });

    it('sends nothing when the limiter fails, and does not retry', async () => {
      let asked = 0;
      const rateLimiter = {
        take: async () => {
          asked += 1;
          throw new Error('broken');
        },
      };
      const error = await failureOf(clientWith({ rateLimiter }).getIPInfo('8.8.8.8'));
      expect(error).toBeInstanceOf(LimiterError);
      expect(error).toMatchObject({ attempts: 0, message: 'The rate limiter failed: broken' });
      expect([asked, upstream.sends]).toEqual([1, 0]);
    });
  });

  describe('time', () => {
    it('applies the timeout to each attempt, and rejects after the last attempt', async () => {
      upstream.answer = silence;
      const error = await failureOf(clientWith({ timeoutMs: 250 }).getIPInfo('8.8.8.8'));
      expect(error).toBeInstanceOf(TimeoutError);
      expect(error).toMatchObject({ code: 'timeout', status: null, attempts: 3, retryable: true });
      expect(upstream.sends).toBe(3);
      expect(reports.map(({ failure }) => failure)).toEqual(['ETIMEDOUT', 'ETIMEDOUT', 'ETIMEDOUT']);
    });

    it('applies the timeout to a body that never ends', async () => {
      upstream.answer = (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write(' '), 10);
        response.once('close', () => clearInterval(drip));
      };
      const error = await failureOf(clientWith({ timeoutMs: 300, retries: 1 }).getIPInfo('8.8.8.8'));
      expect(error).toBeInstanceOf(TimeoutError);
      expect(upstream.sends).toBe(2);
    });

    it('returns the answer of a later attempt that is in time', async () => {
      upstream.answer = inTurn(silence, json(200, BRISBANE));
      expect(await clientWith({ timeoutMs: 300, retries: 5 }).getIPInfo('1.1.1.1')).toEqual(BRISBANE);
    });

    it('prefers the timeout of a call to the timeout of the client', async () => {
      upstream.answer = silence;
      const client = clientWith({ retries: 0 });
      const operations = [
        client.getIPInfo('8.8.8.8', 'json', { timeoutMs: 50 }),
        client.getIPInfoRaw('8.8.8.8', 'xml', { timeoutMs: 50 }),
        client.getField('8.8.8.8', 'city', { timeoutMs: 50 }),
        client.getClientIPInfo('json', { timeoutMs: 50 }),
        client.getClientIPInfoRaw('json', { timeoutMs: 50 }),
        client.getClientField('city', { timeoutMs: 50 }),
        client.getQuota({ timeoutMs: 50 }),
      ];
      for (const error of await Promise.all(operations.map(failureOf))) expect(error).toBeInstanceOf(TimeoutError);
    });
  });

  describe('bodies', () => {
    it('accepts a body of exactly the maximum size, and refuses one byte more', async () => {
      const client = clientWith({ maxBodyBytes: 1000 });
      upstream.answer = body(200, 'x'.repeat(1000));
      expect(await client.getField('8.8.8.8', 'org')).toHaveLength(1000);
      upstream.answer = body(200, 'x'.repeat(1001));
      const error = await failureOf(client.getField('8.8.8.8', 'org'));
      expect(error).toBeInstanceOf(BodyTooLargeError);
      expect(error).toMatchObject({ code: 'body_too_large', status: 200, attempts: 1, retryable: false });
      expect(upstream.sends).toBe(2);
    });

    it('stops an endless body at the maximum size, long before the timeout', async () => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      upstream.answer = (response) => {
        response.writeHead(200);
        const more = () => {
          if (!response.destroyed) response.write(chunk, more);
        };
        more();
      };
      expect(await failureOf(clientWith().getIPInfoRaw('8.8.8.8', 'json'))).toBeInstanceOf(BodyTooLargeError);
      expect(upstream.sends).toBe(1);
    });

    it('counts the decompressed bytes of a gzip bomb while it streams', async () => {
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        const gzip = createGzip();
        gzip.pipe(response);
        // Sends 64 MiB, compressed to 64 KiB, and leaves the body open.
        for (let mebibyte = 0; mebibyte < 64; mebibyte += 1) gzip.write(Buffer.alloc(1024 * 1024));
        gzip.flush();
        response.once('close', () => gzip.destroy());
      };
      expect(await failureOf(clientWith().getIPInfo('8.8.8.8'))).toBeInstanceOf(BodyTooLargeError);
      expect(upstream.sends).toBe(1);
    });

    it.each(['gzip', 'x-gzip'])('decodes a record sent as %s', async (encoding) => {
      upstream.answer = body(200, gzipSync(JSON.stringify(BRISBANE)), { 'content-encoding': encoding });
      expect(await clientWith().getIPInfo('1.1.1.1')).toEqual(BRISBANE);
    });

    it('maps a failed response by its status when its body is too large', async () => {
      const client = clientWith({ maxBodyBytes: 10 });
      upstream.answer = body(404, 'x'.repeat(5000));
      expect(await failureOf(client.getIPInfo('8.8.8.8'))).toMatchObject({ name: 'NotFoundError', attempts: 1 });
      upstream.answer = body(500, 'x'.repeat(5000));
      expect(await failureOf(client.getIPInfo('8.8.8.8'))).toMatchObject({ name: 'ServerError', attempts: 3 });
    });
  });
});
