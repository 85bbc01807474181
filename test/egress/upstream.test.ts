import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import type { Egress, EgressProxy } from '../../src/egress/egress.ts';
import { startProxy } from '../support/proxy.ts';
import { type Listening, listening, namesOf } from './listening.ts';

/* Both proxies resolve `site.test`, so a direct connection would reach the site and be noticed. */

const CREDENTIALS = { username: 'harbour', password: 'master:key' };

const policy = createTargetPolicy({ allow: ['127.0.0.1'], deny: ['*.closed.test'] });
let hits: string[];
let answer: http.RequestListener;
let site: Listening;
let egress: Egress;
let egressProxy: EgressProxy;

beforeEach(async () => {
  hits = [];
  answer = (_request, response) => response.end('hello');
  const server = http.createServer((request, response) => {
    hits.push(request.url ?? '');
    answer(request, response);
  });
  site = await listening(server);
  egress = createEgress({
    policy,
    lookup: namesOf({ 'site.test': ['127.0.0.1'], 'private.test': ['10.0.0.1'], 'proxy.test': ['127.0.0.1'] }),
    dialTimeoutMs: 2_000,
  });
  egressProxy = await egress.openEgressProxy();
});

afterEach(async () => {
  await egress.close();
  await site[Symbol.asyncDispose]();
});

const through = (port: number, host = '127.0.0.1') => ({ server: `http://${host}:${port}` });
const siteUrl = (path = '/', host = 'site.test') => `http://${host}:${site.port}${path}`;
const failureOf = (url: string) => egressProxy.failureFor(new URL(url));

/** Resolves with the status and body of an answer, or null when the connection ended without one. */
async function ask(url: string): Promise<readonly [status: number, body: string] | null> {
  const { hostname: host, port } = new URL(egressProxy.proxyServer);
  const request = http.request({ host, port, agent: false, path: url });
  request.end();
  try {
    const [response] = await once(request, 'response');
    return [response.statusCode, await text(response)];
  } catch {
    return null;
  }
}

/** Resolves with the answer to `sent` through a tunnel, or the status line of a refusal. */
async function tunnel(authority: string, sent: string): Promise<string> {
  const { hostname: host, port } = new URL(egressProxy.proxyServer);
  const socket = net.connect({ host, port: Number(port) });
  socket.on('error', () => {});
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  const [status = ''] = String(head).split('\r\n');
  if (!status.includes(' 200 ')) return status;
  socket.write(sent);
  return text(socket);
}

const REQUEST = 'GET /tunnelled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('an egress proxy with an upstream proxy', () => {
  it('sends every request through the upstream proxy, with credentials that the target never receives', async () => {
    await using proxy = await startProxy({ credentials: 'harbour:master:key', names: { 'far.test': '127.0.0.1' } });
    let seen: http.IncomingHttpHeaders = {};
    answer = (request, response) => {
      seen = request.headers;
      response.end('hello');
    };
    egressProxy.reset({ ...through(proxy.port), credentials: CREDENTIALS });
    expect(await ask(siteUrl('/a?b=c', 'far.test'))).toEqual([200, 'hello']);
    expect(seen.host).toBe(`far.test:${site.port}`);
    expect(seen).not.toHaveProperty('proxy-authorization');
    expect(await tunnel(`far.test:${site.port}`, REQUEST)).toContain('hello');
    const authorization = `Basic ${Buffer.from('harbour:master:key').toString('base64')}`;
    expect(proxy.asked).toEqual([
      { what: `GET ${siteUrl('/a?b=c', 'far.test')}`, authorization },
      { what: `CONNECT far.test:${site.port}`, authorization },
    ]);
    expect(egressProxy.addressFor(new URL(siteUrl('/', 'far.test')))).toBeNull();
  });

  it('sends no credentials when the system does not report the users of connections', async () => {
    await using proxy = await startProxy({ credentials: 'harbour:master:key' });
    const warnings: string[] = [];
    await egress.close();
    egress = createEgress({ policy, userLookups: [], warn: (text) => warnings.push(text) });
    egressProxy = await egress.openEgressProxy();
    egressProxy.reset({ ...through(proxy.port), credentials: CREDENTIALS });
    expect(await ask(siteUrl())).toBeNull();
    const failed = { code: 'proxy_failed', reason: expect.stringContaining('is used only without credentials') };
    expect(failureOf(siteUrl())).toEqual(failed);
    expect(await tunnel(`site.test:${site.port}`, REQUEST)).toContain('502');
    expect(proxy.asked).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('captures with the credentials of a proxy fail')]);

    await using open = await startProxy({ names: { 'site.test': '127.0.0.1' } });
    egressProxy.reset(through(open.port));
    expect(await ask(siteUrl())).toEqual([200, 'hello']);
  });

  it('does not use the upstream proxy for the next capture', async () => {
    await using proxy = await startProxy();
    egressProxy.reset(through(proxy.port));
    egressProxy.reset();
    expect(await ask(siteUrl())).toEqual([200, 'hello']);
    expect(proxy.asked).toEqual([]);
  });

  it('leaves name resolution to the upstream proxy, but checks literal hosts, denied names and ports', async () => {
    await using proxy = await startProxy({ names: { 'private.test': '127.0.0.1' } });
    egressProxy.reset(through(proxy.port));
    expect(await ask(siteUrl('/', 'private.test'))).toEqual([200, 'hello']);
    const before = proxy.asked.length;
    for (const host of ['10.0.0.1', '[::1]', 'www.closed.test']) {
      expect(await ask(siteUrl('/', host))).toBeNull();
      expect(await tunnel(`${host}:${site.port}`, REQUEST)).toContain('403');
      expect(failureOf(siteUrl('/', host))?.code).toBe('target_forbidden');
    }
    expect(await tunnel('site.test:25', REQUEST)).toContain('403');
    expect(proxy.asked).toHaveLength(before);
  });

  it('passes on an error page of the target', async () => {
    await using proxy = await startProxy();
    egressProxy.reset(through(proxy.port));
    answer = (_request, response) => response.writeHead(503).end('out of order');
    expect(await ask(siteUrl('/', '127.0.0.1'))).toEqual([503, 'out of order']);
  });

  describe('when the upstream proxy fails', () => {
    /** Expects a request and a tunnel to fail without reaching the target. */
    async function expectFailure(reason: string): Promise<void> {
      expect(await ask(siteUrl())).toBeNull();
      expect(failureOf(siteUrl())).toEqual({ code: 'proxy_failed', reason: expect.stringContaining(reason) });
      expect(await tunnel(`site.test:${site.port}`, REQUEST)).toContain('502');
      expect(failureOf(siteUrl())).toEqual({ code: 'proxy_failed', reason: expect.stringContaining(reason) });
      expect(hits).toEqual([]);
    }

    it('reports a refused connection', async () => {
      const gone = await listening(net.createServer());
      await gone[Symbol.asyncDispose]();
      egressProxy.reset(through(gone.port));
      await expectFailure('connection refused by');
    });

    it('reports refused credentials without disclosing them', async () => {
      await using proxy = await startProxy({ credentials: 'some:body' });
      egressProxy.reset({ ...through(proxy.port), credentials: CREDENTIALS });
      await expectFailure('does not accept the credentials');
      expect(failureOf(siteUrl())?.reason).not.toMatch(/harbour|master/);
    });

    it('reports that the proxy cannot reach the target', async () => {
      await using proxy = await startProxy({ names: { 'site.test': '127.0.0.99' } });
      egressProxy.reset(through(proxy.port));
      await expectFailure('answered 502 Bad Gateway');
    });

    it('reports that the proxy closed the connection', async () => {
      await using proxy = await listening(net.createServer((socket) => socket.once('data', () => socket.destroy())));
      egressProxy.reset(through(proxy.port));
      await expectFailure('closed the connection without an answer');
    });

    it('reports that the proxy does not speak HTTP', async () => {
      await using proxy = await listening(net.createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n')));
      egressProxy.reset(through(proxy.port));
      await expectFailure('does not answer in HTTP');
    });

    it('reports that the proxy does not answer', async () => {
      await using proxy = await listening(net.createServer(() => {}));
      egressProxy.reset(through(proxy.port));
      expect(await tunnel(`site.test:${site.port}`, REQUEST)).toContain('502');
      expect(failureOf(siteUrl())?.reason).toContain('did not answer in time');
      expect(hits).toEqual([]);
    });
  });

  it.each([
    [{ server: 'http://10.0.0.1:3128' }, 'the proxy: 10.0.0.1 is not public (private)'],
    [{ server: 'http://private.test:3128' }, 'the proxy: private.test resolves to an address that is not public'],
    [{ server: 'http://127.0.0.1:22' }, 'the proxy: port 22 (ssh)'],
  ])('refuses the upstream proxy %o like a target at that address', async (proxy, reason) => {
    egressProxy.reset(proxy);
    expect(await ask(siteUrl())).toBeNull();
    const forbidden = { code: 'target_forbidden', reason: expect.stringContaining(reason) };
    expect(failureOf(siteUrl())).toEqual(forbidden);
    const { signal } = new AbortController();
    expect(await egress.screen(new URL(siteUrl()), signal, proxy)).toEqual(forbidden);
    expect(hits).toEqual([]);
  });

  it('screens the address of the upstream proxy, but screens a target only by its literal host', async () => {
    const { signal } = new AbortController();
    const proxy = through(3128, 'proxy.test');
    expect(await egress.screen(new URL('http://private.test/'), signal, proxy)).toBeNull();
    expect(await egress.screen(new URL('http://10.0.0.1/'), signal, proxy)).toMatchObject({ code: 'target_forbidden' });
    expect(await egress.screen(new URL('http://private.test/'), signal)).toMatchObject({ code: 'target_forbidden' });
  });
});
