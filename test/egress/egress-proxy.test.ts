import { once } from 'node:events';
import http from 'node:http';
import net, { type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress, type EgressOptions } from '../../src/egress/create-egress.ts';
import type { Egress, EgressProxy } from '../../src/egress/egress.ts';
import { type Listening, listening, namesOf } from './listening.ts';

/* Uses an egress proxy as a browser does: requests in absolute form for http, CONNECT for everything else. */

const NAMES = { 'site.test': ['127.0.0.1'], 'two.test': ['127.0.0.2', '127.0.0.1'], 'private.test': ['10.0.0.1'] };

/** Request handler of the site, replaced by each test that needs another. */
let answer: http.RequestListener;
let requests: http.IncomingMessage[];
let siteConnections: Socket[];
let site: Listening;
let egress: Egress;
let egressProxy: EgressProxy;
/** HTTP agent in the role of the browser, which keeps its connections as browsers do. */
let browser: http.Agent;

beforeAll(async () => {
  const server = http.createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.on('connection', (socket) => siteConnections.push(socket));
  site = await listening(server);
});

afterAll(() => site[Symbol.asyncDispose]());

async function open(options: Partial<EgressOptions> = {}): Promise<void> {
  egress = createEgress({
    policy: createTargetPolicy({ allow: ['127.0.0.0/8'], deny: [] }),
    lookup: namesOf(NAMES),
    ...options,
  });
  egressProxy = await egress.openEgressProxy();
}

beforeEach(async () => {
  requests = [];
  siteConnections = [];
  answer = (_request, response) => response.end('hello');
  browser = new http.Agent({ keepAlive: true });
  await open();
});

afterEach(async () => {
  browser.destroy();
  await egress.close();
});

function proxyAddress(): { host: string; port: number } {
  const { hostname, port } = new URL(egressProxy.proxyServer);
  return { host: hostname, port: Number(port) };
}

/** Requests a URL through the egress proxy. Rejects when the connection ends without an answer. */
async function ask(url: string, options: http.RequestOptions = {}, body?: string): Promise<http.IncomingMessage> {
  const request = http.request({ ...proxyAddress(), agent: browser, path: url, ...options });
  request.end(body);
  const [response] = await once(request, 'response');
  return response;
}

async function read(url: string): Promise<string> {
  return text(await ask(url));
}

/** Opens a tunnel. `status` is the status line of the answer. */
async function tunnel(authority: string): Promise<{ socket: Socket; status: string }> {
  const { host, port } = proxyAddress();
  const socket = net.connect({ host, port });
  socket.on('error', () => {});
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  return { socket, status: String(head).split('\r\n')[0] ?? '' };
}

function siteUrl(path = '/', host = 'site.test'): string {
  return `http://${host}:${site.port}${path}`;
}

async function whenClosed(socket: Socket | undefined): Promise<void> {
  if (socket && !socket.closed) await once(socket, 'close');
}

describe('a plain request through an egress proxy', () => {
  it('reaches the target as the browser sent it, without headers that reveal a proxy', async () => {
    const response = await ask(
      siteUrl('/a/../b?c=%20d'),
      {
        method: 'POST',
        headers: {
          'User-Agent': 'browser',
          Cookie: 'a=b',
          'Proxy-Connection': 'keep-alive',
          'Proxy-Authorization': 'Basic eDp5',
          Connection: 'keep-alive, X-Hop',
          'X-Hop': '1',
          'Content-Length': 4,
        },
      },
      'body',
    );
    expect(await text(response)).toBe('hello');
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: '/a/../b?c=%20d' });
    expect(request?.headers).toEqual({
      host: `site.test:${site.port}`,
      'user-agent': 'browser',
      cookie: 'a=b',
      'content-length': '4',
      connection: 'keep-alive',
    });
  });

  it('returns the status, reason phrase, headers and body of the target unchanged', async () => {
    answer = (_request, response) => {
      response.sendDate = false;
      response.writeHead(418, 'Short and stout', ['X-Case', 'Kept', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']);
      response.end('tea');
    };
    const response = await ask(siteUrl());
    expect(response).toMatchObject({ statusCode: 418, statusMessage: 'Short and stout' });
    expect(response.rawHeaders.slice(0, 6)).toEqual(['X-Case', 'Kept', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']);
    expect(Object.keys(response.headers).filter((name) => !['connection', 'transfer-encoding'].includes(name))).toEqual(
      ['x-case', 'set-cookie'],
    );
    expect(await text(response)).toBe('tea');
  });

  it('forwards a body of unknown length with any method', async () => {
    const { promise: received, resolve } = Promise.withResolvers<string>();
    answer = async (request, response) => {
      resolve(await text(request));
      response.end();
    };
    await text(await ask(siteUrl(), { method: 'DELETE', headers: { 'Transfer-Encoding': 'chunked' } }, 'chunk'));
    expect(await received).toBe('chunk');
  });

  it('reuses the connection to a target', async () => {
    for (let round = 0; round < 5; round += 1) expect(await read(siteUrl())).toBe('hello');
    expect(siteConnections).toHaveLength(1);
  });

  it('repeats a request on a new connection when the target resets the kept one', async () => {
    expect(await read(siteUrl())).toBe('hello');
    const [kept] = siteConnections;
    // The kept connection is reset as soon as the next request arrives on it.
    answer = (request, response) =>
      request.socket === kept ? request.socket.resetAndDestroy() : response.end('again');
    expect(await read(siteUrl())).toBe('again');
    expect(siteConnections).toHaveLength(2);
    expect(egressProxy.failureFor(new URL(siteUrl()))).toBeNull();
  });

  it('streams the answer before it is complete', async () => {
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    answer = async (_request, response) => {
      response.write('first');
      await done;
      response.end('second');
    };
    const response = await ask(siteUrl());
    const [first] = await once(response, 'data');
    expect(String(first)).toBe('first');
    finish();
    expect(await text(response)).toBe('second');
  });

  it('slows a fast target down to the speed of the browser', async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    let sent = 0;
    answer = (request, response) => {
      if (request.url !== '/large') {
        response.end();
        return;
      }
      const send = (): void => {
        while (sent < 200 && response.write(chunk)) sent += 1;
      };
      response.on('drain', send);
      send();
    };
    const response = await ask(siteUrl('/large'));
    // Takes long enough for the whole body to pass if nothing slowed it down.
    for (let round = 0; round < 200; round += 1) await read(siteUrl());
    response.destroy();
    expect(sent).toBeLessThan(100);
  });

  it('ends the request at the target when the browser disconnects', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    answer = (_request, response) => {
      response.write('some');
      response.on('close', resolve);
    };
    const response = await ask(siteUrl());
    response.destroy();
    await gone;
  });

  it('aborts the answer when the target disconnects in the middle of a body', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('half', () => response.destroy());
    };
    await expect(read(siteUrl())).rejects.toThrow('aborted');
  });

  it('answers 400 when the URL is not in absolute form with http:', async () => {
    expect(await ask('/')).toMatchObject({ statusCode: 400 });
    expect(await ask('https://site.test/')).toMatchObject({ statusCode: 400 });
    expect(await ask('ftp://site.test/')).toMatchObject({ statusCode: 400 });
  });
});

describe('a plain request that fails', () => {
  it.each([
    ['a private name', 'http://private.test/', 'target_forbidden', 'resolves to an address that is not public'],
    ['a private address', 'http://10.0.0.1/', 'target_forbidden', '10.0.0.1 is not public (private)'],
    ['a port that browsers refuse', 'http://site.test:25/', 'target_forbidden', 'port 25 (smtp)'],
    ['a name that does not exist', 'http://nowhere.test/', 'target_unreachable', 'no such name: nowhere.test'],
    ['another port that browsers refuse', 'http://site.test:9/x', 'target_forbidden', 'port 9 (discard)'],
    ['a closed port', 'http://site.test:2/', 'target_unreachable', 'connection refused by 127.0.0.1:2'],
  ])('closes the connection without an error page, and reports %s', async (_what, url, code, reason) => {
    await expect(ask(url)).rejects.toThrow('socket hang up');
    expect(egressProxy.failureFor(new URL(url))).toEqual({ code, reason: expect.stringContaining(reason) });
    expect(egressProxy.failureFor(new URL(siteUrl()))).toBeNull();
  });

  it('reports a target that closes the connection without an answer, or does not speak HTTP', async () => {
    answer = (request) => request.socket.destroy();
    await expect(ask(siteUrl())).rejects.toThrow('socket hang up');
    expect(egressProxy.failureFor(new URL(siteUrl()))?.reason).toContain('closed the connection without an answer');
    answer = (request) => request.socket.end('SSH-2.0-OpenSSH_9.9\r\n');
    await expect(ask(siteUrl())).rejects.toThrow('socket hang up');
    expect(egressProxy.failureFor(new URL(siteUrl()))?.reason).toContain('is not HTTP');
  });

  it('forgets a failure after a later connection succeeds', async () => {
    const away = await listening(net.createServer());
    await away[Symbol.asyncDispose]();
    const url = `http://site.test:${away.port}/`;
    await expect(ask(url)).rejects.toThrow();
    expect(egressProxy.failureFor(new URL(url))?.reason).toBe(`connection refused by 127.0.0.1:${away.port}`);
    await using _back = await listening(
      http.createServer((_request, response) => response.end('back')),
      '127.0.0.1',
      away.port,
    );
    expect(await read(url)).toBe('back');
    expect(egressProxy.failureFor(new URL(url))).toBeNull();
  });
});

describe('a tunnel through an egress proxy', () => {
  it('carries bytes in both directions, including those sent ahead, and closes with the target', async () => {
    await using echo = await listening(
      net.createServer((socket) => {
        socket.on('data', (chunk) => (String(chunk).includes('bye') ? socket.end('closing') : socket.write(chunk)));
      }),
    );
    const { host, port } = proxyAddress();
    const socket = net.connect({ host, port });
    socket.write(`CONNECT site.test:${echo.port} HTTP/1.1\r\nHost: site.test:${echo.port}\r\n\r\nahead`);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
      if (received.endsWith('ahead')) socket.write('bye');
    });
    await whenClosed(socket);
    expect(received).toBe('HTTP/1.1 200 Connection Established\r\n\r\naheadclosing');
    expect(egressProxy.addressFor(new URL(`https://site.test:${echo.port}/`))).toBe('127.0.0.1');
    expect(egressProxy.failureFor(new URL(`wss://site.test:${echo.port}/`))).toBeNull();
  });

  it.each([
    ['private.test:443', '403', 'https://private.test/', 'target_forbidden'],
    ['10.0.0.1:443', '403', 'wss://10.0.0.1/', 'target_forbidden'],
    ['[::1]:443', '403', 'https://[::1]/', 'target_forbidden'],
    ['0x7f.1:25', '403', 'https://127.0.0.1:25/', 'target_forbidden'],
    ['nowhere.test:443', '502', 'https://nowhere.test/', 'target_unreachable'],
    ['site.test:2', '502', 'https://site.test:2/', 'target_unreachable'],
  ])('refuses CONNECT %s with status %s', async (authority, status, url, code) => {
    const opened = await tunnel(authority);
    expect(opened.status).toContain(status);
    await whenClosed(opened.socket);
    expect(egressProxy.failureFor(new URL(url))?.code).toBe(code);
  });

  it.each(['site.test', 'site.test:', ':443', 'site.test:443/x', 'a@b:443', 'site.test:99999'])(
    'answers 400 for %s, which is not a host and port',
    async (authority) => {
      expect((await tunnel(authority)).status).toContain('400');
    },
  );

  it('dials the next address when the first refuses the connection', async () => {
    // The site listens on 127.0.0.1 only, so 127.0.0.2 refuses the connection.
    const { status, socket } = await tunnel(`two.test:${site.port}`);
    expect(status).toContain('200');
    expect(egressProxy.addressFor(new URL(siteUrl('/', 'two.test')))).toBe('127.0.0.1');
    socket.destroy();
  });

  it('closes both sides of a tunnel when either side disconnects', async () => {
    const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
    await using silent = await listening(net.createServer(resolve));
    const first = await tunnel(`site.test:${silent.port}`);
    const target = await accepted;
    first.socket.destroy();
    await whenClosed(target);

    const reset = await tunnel(`site.test:${site.port}`);
    const resetTarget = siteConnections.at(-1);
    reset.socket.resetAndDestroy();
    await whenClosed(resetTarget);

    const second = await tunnel(`site.test:${site.port}`);
    siteConnections.at(-1)?.resetAndDestroy();
    await whenClosed(second.socket);
    expect(egressProxy.failureFor(new URL(`https://site.test:${site.port}/`))?.reason).toContain('without an answer');
  });
});

describe('an egress proxy', () => {
  it('stops dialling at the time limit', async () => {
    await egress.close();
    const { promise: never } = Promise.withResolvers<readonly string[]>();
    await open({ lookup: () => never, dialTimeoutMs: 50 });
    await expect(ask('http://slow.test/')).rejects.toThrow('socket hang up');
    expect(egressProxy.failureFor(new URL('http://slow.test/'))).toEqual({
      code: 'target_unreachable',
      reason: 'no address of slow.test was found within 0.05 s',
    });
  });

  it('shares one lookup among simultaneous connections to a name', async () => {
    await egress.close();
    const asked: string[] = [];
    await open({
      lookup: async (name) => {
        asked.push(name);
        return ['127.0.0.1'];
      },
    });
    await Promise.all([read(siteUrl()), read(siteUrl()), read(siteUrl())]);
    expect(asked).toEqual(['site.test']);
  });

  it('forgets failures on reset, and ends requests, tunnels and kept connections of the previous capture', async () => {
    answer = (request, response) => {
      if (request.url === '/hang') response.write('...');
      else response.end();
    };
    await read(siteUrl());
    const hanging = await ask(siteUrl('/hang'));
    const cut = once(hanging, 'error');
    const { socket } = await tunnel(`site.test:${site.port}`);
    await expect(ask('http://10.0.0.1/')).rejects.toThrow();

    egressProxy.reset();

    await cut;
    await whenClosed(socket);
    await Promise.all(siteConnections.map(whenClosed));
    expect(egressProxy.failureFor(new URL('http://10.0.0.1/'))).toBeNull();
    expect(egressProxy.addressFor(new URL(siteUrl()))).toBeNull();
    expect(await read(siteUrl())).toBe('');
  });

  it('does not report a late failure of the previous capture to the next one', async () => {
    await egress.close();
    const { promise: late, reject } = Promise.withResolvers<readonly string[]>();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    await open({
      lookup: () => {
        resolve();
        return late;
      },
    });
    const opened = tunnel('late.test:443').catch(() => null);
    await asked;
    egressProxy.reset();
    reject(new Error('no such name'));
    await late.catch(() => {});
    expect(egressProxy.failureFor(new URL('https://late.test/'))).toBeNull();
    await egress.close();
    void opened;
  });

  it('does not report failures of other egress proxies', async () => {
    const other = await egress.openEgressProxy();
    await expect(ask('http://10.0.0.1/')).rejects.toThrow();
    expect(other.proxyServer).not.toBe(egressProxy.proxyServer);
    expect(other.failureFor(new URL('http://10.0.0.1/'))).toBeNull();
  });

  it('ends its connections and stops listening when it is closed', async () => {
    answer = (_request, response) => response.write('...');
    const hanging = await ask(siteUrl());
    const cut = once(hanging, 'error');
    await egressProxy.close();
    await cut;
    await Promise.all(siteConnections.map(whenClosed));
    await expect(ask(siteUrl())).rejects.toThrow('ECONNREFUSED');
    await egressProxy.close();
  });

  it('refuses further requests of a capture that exceeds its limit of requests', async () => {
    await egress.close();
    await open({ maxRequests: 2 });
    await read(siteUrl());
    await read(siteUrl());
    await expect(ask(siteUrl())).rejects.toThrow('socket hang up');
    expect((await tunnel(`site.test:${site.port}`)).status).toContain('502');
    expect(egressProxy.failureFor(new URL(siteUrl()))).toEqual({
      code: 'target_unreachable',
      reason: expect.stringContaining('more than 2 requests'),
    });
    egressProxy.reset();
    expect(await read(siteUrl())).toBe('hello');
  });

  it('disconnects a capture that exceeds its limit of bytes, in a plain answer or a tunnel', async () => {
    await egress.close();
    await open({ maxBytes: 1024 * 1024 });
    answer = (_request, response) => {
      const flood = (): void => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', flood);
      flood();
    };
    await expect(read(siteUrl())).rejects.toThrow('aborted');
    await expect(ask(siteUrl())).rejects.toThrow();
    expect(egressProxy.failureFor(new URL(siteUrl()))?.reason).toContain('more than 1048576 bytes');

    egressProxy.reset();
    const { socket } = await tunnel(`site.test:${site.port}`);
    socket.write('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n');
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    await whenClosed(socket);
    expect(received).toBeLessThan(2 * 1024 * 1024);
  });
});
