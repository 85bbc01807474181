import dgram from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForSuite } from '../support/for-suite.ts';
import { TENANTS } from './tenants.ts';

const Answer = z.object({ data: z.object({ id: z.number(), title: z.string(), cached: z.boolean() }) });
const Listed = z.object({ data: z.array(z.object({ id: z.number() })) });

/** Addresses of servers that no page may reach, and that pages with a network may reach. */
const FORBIDDEN = '127.0.0.2';
const ALLOWED = '127.0.0.1';

/** Makes a browser open a connection, given the address of a server and a URL there. */
type Way = (host: string, url: string) => string;

/** Pages: one for each way that navigates away, the others grouped. */
const PAGES: readonly [string, readonly Way[]][] = [
  ['a meta refresh', [(_, url) => `<meta http-equiv=refresh content="0;url=${url}">`]],
  [
    'a form',
    [(_, url) => `<form method=post action="${url}"><input name=a></form><script>document.forms[0].submit()</script>`],
  ],
  [
    'a window',
    [
      (_, url) =>
        `<script>open("${url}")</script><a href="${url}" ping="${url}">x</a><script>document.querySelector('a').click()</script>`,
    ],
  ],
  [
    'leaving the page',
    [
      (_, url) =>
        `<script>addEventListener('pagehide', () => navigator.sendBeacon("${url}", 'x'));location.href="about:blank"</script>`,
    ],
  ],
  [
    'frames',
    [
      (_, url) => `<iframe srcdoc='<meta http-equiv=refresh content="0;url=${url}">'></iframe>`,
      (_, url) => `<iframe src="${url}"></iframe>`,
      (_, url) => `<iframe srcdoc='<img src="${url}">'></iframe>`,
      (_, url) => `<iframe src="data:text/html,<img src='${url}'>"></iframe>`,
      (_, url) => `<script>
      const html = '<script>fetch("${url}",{mode:"no-cors"})</scr' + 'ipt>';
      document.write('<iframe src="' + URL.createObjectURL(new Blob([html], { type: 'text/html' })) + '"></iframe>');
    </script>`,
    ],
  ],
  [
    'hints, rules of speculation, icons, manifests, style sheets and a base',
    [
      (host, url) => `<meta http-equiv=x-dns-prefetch-control content=on><link rel=dns-prefetch href="//${host}">
      <link rel=preconnect href="${url}"><link rel=prefetch href="${url}"><link rel=prerender href="${url}">
      <link rel=preload as=image href="${url}"><link rel=modulepreload href="${url}">`,
      (_, url) =>
        `<script type=speculationrules>{"prefetch":[{"urls":["${url}"]}],"prerender":[{"urls":["${url}"]}]}</script>`,
      (_, url) => `<link rel=icon href="${url}"><link rel=manifest href="${url}"><link rel=stylesheet href="${url}">
      <style>@import url("${url}");@font-face{font-family:x;src:url("${url}")}p{font-family:x;background:url("${url}")}</style><p>x`,
      (_, url) => `<base href="${url}/"><img src=x><script src=x></script>`,
    ],
  ],
  [
    'WebSockets, workers, WebRTC and WebTransport',
    [
      (_, url) => `<script>new WebSocket("${url}")</script>`,
      (host, url) => `<script>
      const source = 'fetch("${url}",{mode:"no-cors"}).catch(()=>{});new WebSocket("ws://${host}/");importScripts("${url}")';
      const address = URL.createObjectURL(new Blob([source]));
      new Worker(address); new SharedWorker(address); navigator.serviceWorker?.register(address).catch(() => {});
    </script>`,
      (host) => `<script>
      const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:${host}', 'turn:${host}?transport=tcp'], username: 'a', credential: 'b' }] });
      peer.createDataChannel('x');
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    </script>`,
      (host) => `<script>new WebTransport("https://${host}/").ready.catch(() => {})</script>`,
    ],
  ],
];

/** A page with all ways, each to a URL of its own. */
const triesOf = (ways: readonly Way[], host: string) =>
  `<!doctype html><title>Tries</title>${ways.map((way, at) => way(host, `http://${host}/${at}`)).join('')}`;

async function portOf(server: Server): Promise<number> {
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return address.port;
}

describe('given HTML', () => {
  const app = serviceForSuite({}, { apiKey: TENANTS.map(({ key }) => key), namedKeys: TENANTS, isolateKeys: true });
  const [flood, shop] = TENANTS;
  const servers: Server[] = [];
  const receivers: dgram.Socket[] = [];
  const ports: Record<string, number> = {};
  let came = 0;

  beforeAll(async () => {
    for (const host of [FORBIDDEN, ALLOWED]) {
      const server = createServer((socket) => {
        came += 1;
        socket.destroy();
      }).listen(0, host);
      servers.push(server);
      const port = await portOf(server);
      ports[host] = port;
      const udp = dgram.createSocket('udp4');
      receivers.push(udp);
      udp.on('message', () => {
        came += 1;
      });
      udp.bind(port, host);
      await once(udp, 'listening');
    }
  });
  afterAll(() => {
    for (const open of [...servers, ...receivers]) open.close();
  });

  const post = (key: string, request: Readonly<Record<string, unknown>>, headers: Record<string, string> = {}) =>
    app.post('/screenshot', request, { headers: { Authorization: `Bearer ${key}`, ...headers } });
  const shoot = async (key: string, html: string, options = {}, headers: Record<string, string> = {}) => {
    const response = await post(key, { html, ...options }, headers);
    expect(response.status, await response.clone().text()).toBe(200);
    return Answer.parse(await response.json()).data;
  };

  const attempts = PAGES.flatMap(([name, ways]) => [
    { name, ways, host: FORBIDDEN, allowNetwork: true },
    { name, ways, host: ALLOWED, allowNetwork: false },
  ]);
  // They mostly wait, so they wait together; nobody may come from any of them.
  it.concurrent.each(attempts)(
    'cannot reach $host with $name when allowNetwork is $allowNetwork',
    async ({ ways, host, allowNetwork }) => {
      const html = triesOf(ways, `${host}:${ports[host]}`);
      const { status } = await post(flood.key, { html, allowNetwork, delayMs: 500, timeoutMs: 60_000 });
      // A page that sent itself to a forbidden address fails.
      expect([200, 403, 422, 502]).toContain(status);
      expect(came).toBe(0);
    },
  );

  // Shows that ways on one page do not hinder each other.
  it.concurrent.for(PAGES.filter(([, ways]) => ways.length > 1))(
    'reaches an allowed server with %s, in each way by its own URL',
    async ([, ways], { expect }) => {
      const arrived = new Set<number>();
      const server = createHttpServer((request) => {
        arrived.add(Number.parseInt(request.url?.slice(1) ?? '', 10));
        request.socket.destroy();
      }).listen(0, ALLOWED);
      const host = `${ALLOWED}:${await portOf(server)}`;
      const leave = new AbortController();
      const request = { html: triesOf(ways, host), allowNetwork: true, delayMs: 30_000, timeoutMs: 60_000 };
      const headers = { Authorization: `Bearer ${flood.key}` };
      const left = app.post('/screenshot', request, { headers, signal: leave.signal }).catch(() => undefined);
      // WebRTC and WebTransport, which name only the host, do not go through the proxy; rules of speculation have no
      // effect.
      const effective = ways.flatMap((way, at) => (/^(?!.*speculationrules).*URL/s.test(way('', 'URL')) ? [at] : []));
      await expect.poll(() => effective.filter((at) => !arrived.has(at))).toEqual([]);
      leave.abort();
      await left;
      server.close();
    },
  );

  it.each(['file:///etc/hostname', 'view-source:file:///etc/hostname', 'chrome://version', 'devtools://devtools/x'])(
    'cannot show %s, in a frame or in its place',
    async (url) => {
      const html = `<!doctype html><title>Mine</title><iframe src="${url}"></iframe>
        <script>try { location.href = '${url}' } catch {} fetch('${url}').then(() => { document.title = 'Theirs' }, () => {})</script>`;
      expect((await shoot(flood.key, html)).title).toBe('Mine');
    },
  );

  it('finds nothing that other given HTML has kept', async () => {
    const keeps = `<!doctype html><title>Keeps</title><script>
      localStorage.a = sessionStorage.a = '1'; document.cookie = 'a=1;max-age=9999'; indexedDB.open('a');</script>`;
    const reads = `<!doctype html><title></title><script>
      var read = indexedDB.databases().then((databases) => {
        document.title = [localStorage.length, sessionStorage.length, document.cookie.length, databases.length].join();
        return true;
      });</script>`;
    await shoot(flood.key, keeps, { delayMs: 200 });
    expect((await shoot(shop.key, reads, { waitForFunction: 'read' })).title).toBe('0,0,0,0');
  });

  it('is reused and listed only for the key that sent it', async () => {
    const html = '<!doctype html><title>Own</title>';
    const own = await shoot(flood.key, html);
    const theirs = await shoot(shop.key, html, { cacheMaxAgeMs: 60_000 });
    expect(theirs).toMatchObject({ cached: false });
    expect(await shoot(flood.key, html, { cacheMaxAgeMs: 60_000 })).toMatchObject({ id: own.id, cached: true });
    const headers = { Authorization: `Bearer ${shop.key}` };
    const listed = await app.call('/results/by-host?host=html.invalid&limit=100', { headers });
    const ids = Listed.parse(await listed.json()).data.map(({ id }) => id);
    expect(ids).toContain(theirs.id);
    expect(ids).not.toContain(own.id);
    expect((await app.call(`/results/${own.id}`, { headers })).status).toBe(404);
  });

  it('is refused when its Idempotency-Key was sent with other HTML before', async () => {
    const once = { 'Idempotency-Key': 'given' };
    const first = await shoot(flood.key, '<title>First</title>', {}, once);
    expect((await shoot(flood.key, '<title>First</title>', {}, once)).id).toBe(first.id);
    expect((await post(flood.key, { html: '<title>Second</title>' }, once)).status).toBe(422);
  });

  it('does not outlast its deadline when it reloads, submits a form to itself, or never ends', async () => {
    const self = '<form method=post action=/></form><script>onload = () => document.forms[0].submit()</script>';
    for (const html of ['<script>onload = () => location.reload()</script>', self, '<script>for (;;);</script>']) {
      const { status } = await post(flood.key, { html, timeoutMs: 2_000 });
      expect([200, 422, 502, 504], html).toContain(status);
    }
    expect((await shoot(flood.key, '<title>After</title>')).title).toBe('After');
  });
});
