import dgram from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import { type Browser, chromium, type Page, type Request } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { launchFlags } from '../../src/actors/launching/launch-flags.ts';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import type { Egress, EgressProxy } from '../../src/egress/egress.ts';
import { listening } from './listening.ts';
import { publicAndPrivate } from './public-and-private.ts';

/*
 * Tries every way in which a page can make its browser open a connection, against a server on loopback that must not be
 * reached. `public.test` is the page's own server: its name is allowed and stands for the public network.
 */

/** The browser's own flags, without those that Playwright sets itself. */
const FLAGS = launchFlags({ profileDir: '', sandbox: false, honest: false }).filter(
  (flag) => !/^--(user-data-dir|remote)/.test(flag),
);

/** Answers of the lookup of `changing.test`, in order; the last one repeats. */
let changing: string[][] = [];

async function lookup(name: string): Promise<readonly string[]> {
  if (name === 'changing.test') return (changing.length > 1 ? changing.shift() : changing[0]) ?? [];
  if (name === 'half.test') return ['127.0.0.3', '127.0.0.1'];
  if (name.endsWith('.test')) return ['127.0.0.1'];
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
}

const servers = publicAndPrivate();
let egress: Egress;
let egressProxy: EgressProxy;
let browser: Browser;
let tab: Page;

beforeAll(async () => {
  egress = createEgress({
    policy: createTargetPolicy({ allow: ['public.test', '127.0.0.3'], deny: [] }),
    lookup,
    lookupCacheMs: 0,
  });
  egressProxy = await egress.openEgressProxy();
  const executable = await executableFinder(undefined)();
  if ('missing' in executable) throw new Error(executable.missing);
  browser = await chromium.launch({
    executablePath: executable.path,
    chromiumSandbox: false,
    args: FLAGS,
  });
});

afterAll(async () => {
  await browser?.close();
  await egress?.close();
});

beforeEach(async () => {
  egressProxy.reset();
  tab = await browser.newPage({ proxy: { server: egressProxy.proxyServer, bypass: '<-loopback>' } });
});

afterEach(() => tab.context().close());

/** Opens a URL, whether or not it answers, and waits until the browser has finished the request for `last`. */
async function visit(url: string, last = ''): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const watch = (request: Request): void => {
    if (request.url() === last) resolve();
  };
  tab.on('requestfailed', watch);
  tab.on('requestfinished', watch);
  await tab.goto(url).catch(() => null);
  if (last !== '') await over;
  tab.off('requestfailed', watch);
  tab.off('requestfinished', watch);
}

function expectRefused(url: string, reason = 'not public'): void {
  expect(servers.visits).toEqual([]);
  expect(egressProxy.failureFor(new URL(url))).toEqual({
    code: 'target_forbidden',
    reason: expect.stringContaining(reason),
  });
}

describe('a private address', () => {
  it.each([
    ['literally', '127.0.0.1'],
    ['as another address of loopback', '127.8.8.8'],
    ['as one decimal number', '2130706433'],
    ['in octal', '0177.0.0.01'],
    ['in hexadecimal', '0x7f000001'],
    ['shortened', '127.1'],
    ['with a dot at its end', '127.0.0.1.'],
    ['as the unspecified address', '0.0.0.0'],
    ['in IPv6', '[::1]'],
    ['in IPv6, in full', '[0:0:0:0:0:0:0:1]'],
    ['in IPv6, unspecified', '[::]'],
    ['mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['mapped into IPv6, in hexadecimal', '[::ffff:7f00:1]'],
    ['as localhost', 'localhost'],
    ['as localhost with a dot at its end', 'LOCALHOST.'],
    ['as a name below localhost', 'anything.localhost'],
    ['as a name that resolves to it', 'private.test'],
    ['as a name that resolves to it and to an allowed address', 'half.test'],
  ])('refuses a private address that is given %s', async (_how, host) => {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${servers.privatePort}/`;
      await visit(url);
      expectRefused(url);
      egressProxy.reset();
    }
  });

  it('refuses a name whose answer changes after it was screened', async () => {
    const url = `http://changing.test:${servers.privatePort}/`;
    changing = [['127.0.0.3'], ['127.0.0.1']];
    expect(await egress.screen(new URL(url), new AbortController().signal)).toBeNull();
    await visit(url);
    expectRefused(url);
  });

  it('refuses a name whose answer changes between two connections of a page', async () => {
    // Two servers use the same port: the page's own, and one that is reached only after the answer has changed.
    await using open = await listening(
      http.createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end(servers.page);
      }),
      '127.0.0.3',
    );
    await using _closed = await listening(
      http.createServer((_request, response) => {
        servers.visits.push('rebound');
        response.end('secret');
      }),
      '127.0.0.4',
      open.port,
    );
    const url = `http://changing.test:${open.port}/`;
    changing = [['127.0.0.3'], ['127.0.0.4']];
    servers.page = `<script>fetch('/stolen')</script>`;
    await visit(url, `${url}stolen`);
    expectRefused(url);
    expect(egressProxy.addressFor(new URL(url))).toBe('127.0.0.3');
  });
});

describe('a public page', () => {
  const elements: readonly [string, (target: string) => string][] = [
    ['an iframe', (target) => `<iframe src="${target}"></iframe>`],
    ['an image', (target) => `<img src="${target}">`],
    ['a script', (target) => `<script src="${target}"></script>`],
    ['a module', (target) => `<script type="module">import('${target}').catch(() => {})</script>`],
    ['a style sheet', (target) => `<link rel="stylesheet" href="${target}">`],
    ['an import of a style sheet', (target) => `<style>@import url("${target}");</style>`],
    ['a font', (target) => `<style>@font-face{font-family:x;src:url("${target}")}</style><p style="font-family:x">x`],
    ['an object', (target) => `<object data="${target}"></object>`],
    ['a video', (target) => `<video src="${target}" preload="auto"></video>`],
    ['a preload', (target) => `<link rel="preload" as="fetch" href="${target}">`],
    ['a prefetch', (target) => `<link rel="prefetch" href="${target}">`],
    ['a fetch', (target) => `<script>fetch("${target}",{mode:"no-cors"}).catch(()=>{})</script>`],
    ['a preflighted fetch', (target) => `<script>fetch("${target}",{method:"PUT"}).catch(()=>{})</script>`],
    ['an XMLHttpRequest', (target) => `<script>x=new XMLHttpRequest;x.open("GET","${target}");x.send()</script>`],
    ['a beacon', (target) => `<script>navigator.sendBeacon("${target}","x")</script>`],
    ['an event source', (target) => `<script>new EventSource("${target}")</script>`],
    [
      'a worker',
      (target) => `<script>new Worker(URL.createObjectURL(new Blob(['fetch("${target}",{mode:"no-cors"})'])))</script>`,
    ],
    ['a form', (target) => `<form method="post" action="${target}"></form><script>document.forms[0].submit()</script>`],
    ['a meta refresh', (target) => `<meta http-equiv="refresh" content="0;url=${target}">`],
    ['a script that navigates', (target) => `<script>location.href="${target}"</script>`],
    ['a frame that redirects', () => '<iframe src="/redirect"></iframe>'],
    ['a fetch that is redirected', () => '<script>fetch("/redirect",{mode:"no-cors"}).catch(()=>{})</script>'],
  ];

  it.each(elements)('cannot reach a private server with %s', async (_what, element) => {
    const target = `http://127.0.0.1:${servers.privatePort}/secret`;
    servers.redirect = target;
    servers.page = element(target);
    await visit(`http://public.test:${servers.publicPort}/`, target);
    expectRefused(target);
  });

  it('cannot reach a private server with a redirect', async () => {
    for (const target of [
      `http://127.0.0.1:${servers.privatePort}/secret`,
      `https://private.test:${servers.privatePort}/secret`,
    ]) {
      servers.redirect = target;
      await visit(`http://public.test:${servers.publicPort}/redirect`);
      expectRefused(target);
    }
  });

  it.each(['ws', 'wss'])('cannot reach a private server with a WebSocket (%s:)', async (scheme) => {
    const target = `${scheme}://127.0.0.1:${servers.privatePort}/secret`;
    servers.page = '';
    await tab.goto(`http://public.test:${servers.publicPort}/`);
    await tab.evaluate(
      (url) =>
        new Promise<void>((resolve) => {
          const socket = new WebSocket(url);
          socket.onopen = () => resolve();
          socket.onerror = () => resolve();
        }),
      target,
    );
    expectRefused(target);
  });

  it('cannot send UDP packets past the proxy with WebRTC', async () => {
    const stun = dgram.createSocket('udp4', () => servers.visits.push('packet'));
    stun.bind(0, '127.0.0.1');
    await once(stun, 'listening');
    servers.page = '';
    await tab.goto(`http://public.test:${servers.publicPort}/`);
    // Resolves with the first candidate, or when the browser reports that there are no more.
    const candidates = await tab.evaluate(`(async () => {
      const found = [];
      const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun.address().port}' }] });
      connection.createDataChannel('data');
      const over = new Promise((resolve) => {
        connection.onicecandidate = ({ candidate }) => {
          if (candidate?.candidate) found.push(candidate.candidate);
          resolve();
        };
      });
      await connection.setLocalDescription(await connection.createOffer());
      await over;
      return found;
    })()`);
    stun.close();
    expect(candidates).toEqual([]);
    expect(servers.visits).toEqual([]);
  });

  it('loads through the proxy unchanged, and the proxy reports the address that answered', async () => {
    servers.page = '<title>a page</title>';
    const url = `http://public.test:${servers.publicPort}/`;
    await tab.goto(url);
    expect(await tab.title()).toBe('a page');
    expect(egressProxy.addressFor(new URL(url))).toBe('127.0.0.1');
    expect(egressProxy.failureFor(new URL(url))).toBeNull();
  });
});
