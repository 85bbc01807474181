import { createHash, X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import Ajv from 'ajv';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import addFormats from 'ajv-formats';
import type { Har } from 'har-format';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { listening } from '../egress/listening.ts';
import type { Site } from '../fixtures/site.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { patience, startActor } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

const ajv = addFormats.default(new Ajv.default({ strict: false }));
ajv.addMetaSchema(draft06);
const schemas = z.record(z.string(), z.looseObject({ $id: z.string() }));
ajv.addSchema(Object.values(schemas.parse(createRequire(import.meta.url)('har-schema'))));

const LONG = `/*${'x'.repeat(5000)}*/`;
const ZIPPED = gzipSync(LONG);
const SIZES: Readonly<Record<string, readonly [status: number, headers: OutgoingHttpHeaders, body?: string | Buffer]>> =
  {
    '/': [
      200,
      { 'content-type': 'text/html' },
      `<title>-</title><script src=/script></script><script>onload = async () => {
      for (const path of ['moved', 'moved-with-text', 'none', 'empty', 'gzip', 'in-chunks', 'gzip-in-chunks', 'unchanged', 'unchanged', 'kept', 'kept'])
        await fetch('/' + path).then((response) => response.text());
      const frame = document.createElement('iframe');
      frame.src = '/frame';
      document.body.append(frame);
      await new Promise((loaded) => { frame.onload = loaded });
      document.title = 'done';
    }</script>`,
    ],
    '/frame': [200, { 'content-type': 'text/html' }, '<script src=/script></script>'],
    '/worker': [
      200,
      { 'content-type': 'text/javascript' },
      `oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim());
    onfetch = (event) => { if (event.request.url.endsWith('/from-worker')) event.respondWith(new Response('made here')) }`,
    ],
    '/script': [200, { 'content-type': 'text/javascript', 'cache-control': 'max-age=600' }, LONG],
    '/moved': [302, { location: '/end' }],
    '/moved-with-text': [302, { location: '/end' }, LONG],
    '/none': [204, {}],
    '/empty': [404, {}],
    '/end': [200, {}, 'The end'],
    '/in-chunks': [200, { 'transfer-encoding': 'chunked' }, LONG],
    '/gzip-in-chunks': [200, { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' }, ZIPPED],
    '/gzip': [200, { 'content-encoding': 'gzip' }, ZIPPED],
    '/unchanged': [200, { etag: '"1"', 'cache-control': 'no-cache' }, LONG],
    '/kept': [200, { 'cache-control': 'max-age=600' }, LONG],
  };

/** A response over HTTP/1.1 or HTTP/2. */
interface Answer {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(body: string | Buffer): unknown;
}

/** Answers with an exact length, except where chunks are asked for. HTTP/2 has none: its frames need no length. */
function answerOfSizes(
  { url = '/', headers, httpVersion }: Pick<IncomingMessage, 'url' | 'headers' | 'httpVersion'>,
  response: Answer,
): void {
  const { pathname } = new URL(url, 'http://localhost');
  const [status, { 'transfer-encoding': coding, ...more }, body = ''] = SIZES[pathname] ?? [410, {}];
  const framing =
    coding === undefined
      ? body.length > 0 && { 'content-length': body.length }
      : httpVersion === '1.1' && { 'transfer-encoding': coding };
  const isUnchanged = headers['if-none-match'] !== undefined;
  response.writeHead(isUnchanged ? 304 : status, { ...more, ...(!isUnchanged && framing) });
  response.end(isUnchanged ? '' : body);
}

const FINGERPRINT = createHash('sha256')
  .update(new X509Certificate(CERTIFICATE).publicKey.export({ type: 'spki', format: 'der' }))
  .digest('base64');

/** Starts a server of these answers, and an actor whose browser accepts its certificate. */
async function sizesOver(scheme: 'http' | 'https') {
  const server =
    scheme === 'http'
      ? createServer(answerOfSizes)
      : createSecureServer({ key: KEY, cert: CERTIFICATE }, answerOfSizes);
  const site = await listening(server);
  // With --ignore-certificate-errors, Chromium would keep nothing in its cache.
  const flag = `--ignore-certificate-errors-spki-list=${FINGERPRINT}`;
  const running = await startActor({ browserPath: await browserStartedBy((path) => `exec ${path} "$@" ${flag}`) });
  const stop = async () => {
    await running.stop();
    await site[Symbol.asyncDispose]();
  };
  return { actor: running.actor, origin: `${scheme}://127.0.0.1:${site.port}`, [Symbol.asyncDispose]: stop };
}

describe('the output har', () => {
  const ground = siteAndActor();
  const otherPort = siteForSuite();

  async function harOf(path: string, options: CaptureOptions = {}, { actor } = ground.running): Promise<Har> {
    const request = captureRequest(ground.site.url(path), { ...IN_FEW_PIXELS, outputs: ['har'], ...options });
    const { outputs } = await actor.capture(request, patience);
    const har = JSON.parse(String(outputs.har?.content));
    expect(ajv.validate('har.json#', har), ajv.errorsText()).toBe(true);
    return har;
  }

  it.each([
    ['the direct driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('has the requests that the site has seen, by %s', async (_driver, options) => {
    const before = ground.site.requests.length;
    const { log } = await harOf('/medium', options);
    const asked = log.entries.map(({ request }) => `${request.method} ${request.url}`);
    const seen = ground.site.requests.slice(before).map(({ method, url }) => `${method} ${ground.site.url(url)}`);
    expect(asked.toSorted()).toEqual(seen.toSorted());
    expect(asked.length).toBeGreaterThan(1);
    const [page] = log.pages ?? [];
    expect(page?.pageTimings.onLoad).toBeGreaterThan(0);
  });

  it.each<[string, CaptureOptions, boolean]>([
    ['the direct driver', {}, false],
    ['Playwright', { waitForFunction: 'true' }, false],
    ['a browser that gives each site a process', {}, true],
  ])(
    'has the bodies and requests of the page, its frames and workers on request, by %s',
    async (_, options, isEach) => {
      const browserPath = isEach ? await browserStartedBy((path) => `exec ${path} --site-per-process "$@"`) : undefined;
      const own = browserPath === undefined ? undefined : await startActor({ browserPath });
      const [page, frame] = [ground.site.requests.length, otherPort.requests.length];
      const elsewhere = (path: string) => otherPort.url(path).replace('127.0.0.1', 'localhost');
      const worker = `await (await fetch(${JSON.stringify(ground.site.url('/part?text=worker'))}, { mode: 'no-cors' })).text(); postMessage(1)`;
      const after = `if (parent === window) await Promise.all([
      fetch('/part?text=posted', { method: 'POST', headers: { 'content-type': 'text/x-note' }, body: '\u6e2f\u53e3' }).then((all) => all.text()),
      fetch('/part?text=binary', { method: 'POST', body: new Uint8Array([255, 254]) }).then((all) => all.text()),
      fetch('/evidence/large.png').then((all) => all.arrayBuffer()), fetch('/redirect?to=/image.png').then((all) => all.arrayBuffer()),
      new Promise((tell) => new Worker(URL.createObjectURL(new Blob([${JSON.stringify(`(async () => {${worker}})()`)}]))).onmessage = tell)])`;
      const inside = elsewhere(`/asks?fetch=${encodeURIComponent('/part?text=inside')}`);
      const path = `/asks?${new URLSearchParams({ frame: inside, fetch: '/redirect?to=/short' })}`;
      const asked = { ...options, har: { bodies: true }, javascript: { after: `(async () => { ${after} })()` } };
      const { entries } = (await harOf(path, asked, own).finally(() => own?.stop())).log;
      const seenBy = (site: Site, since: number, at: (path: string) => string) =>
        site.requests.slice(since).map(({ method, url }) => `${method} ${at(url)}`);
      const seen = [...seenBy(ground.site, page, ground.site.url), ...seenBy(otherPort, frame, elsewhere)];
      expect(entries.map(({ request }) => `${request.method} ${request.url}`).toSorted()).toEqual(seen.toSorted());
      const of = (part: string) =>
        entries.find(({ request, response }) => response.status === 200 && request.url.endsWith(part));
      expect(of('posted')).toMatchObject({
        request: { bodySize: 6, postData: { mimeType: 'text/x-note', text: '\u6e2f\u53e3' } },
        response: { content: { text: 'posted' } },
      });
      expect(of('binary')?.request.postData).toMatchObject({ text: '', comment: 'left out: not UTF-8' });

      expect(['/part?text=worker', '/part?text=inside'].map((part) => of(part)?.response.content.text)).toEqual([
        'worker',
        'inside',
      ]);
      expect(of('/short')?.response.content.text).toMatch(/^<!doctype html>/i);
      expect(of('text%3Dinside')?.response.content.text).toContain('A page that asks');
      const image = of('/image.png')?.response.content;
      expect([image?.encoding, Buffer.from(image?.text ?? '', 'base64').byteLength]).toEqual(['base64', image?.size]);
      const { text, comment } = of('large.png')?.response.content ?? {};
      expect([text, comment]).toEqual([undefined, 'left out: larger than 1048576 bytes']);
      for (const { response } of entries)
        expect(response.content.text ?? response.content.comment ?? response.redirectURL).not.toBe('');
    },
  );

  it('has no bodies unless they are asked for, and none of requests after the capture has typed', async () => {
    const javascript = { after: `fetch('/part?text=x', { method: 'POST', body: 'hush' }).then((all) => all.text())` };
    const plain = JSON.stringify(await harOf('/short', { javascript }));
    expect(plain.match(/.{80}(?:hush|postData|"encoding"|"comment").{80}/)).toBeNull();
    const typing = { javascript, actions: [{ type: 'press', key: 'h' }] } as const;
    const { entries } = (await harOf('/short', { ...typing, har: { bodies: true } })).log;
    const { request, response } = entries.find(({ request }) => request.method === 'POST') ?? {};
    expect(request?.postData).toMatchObject({ text: '', comment: 'left out: the capture typed into the page' });
    expect(response?.content.text).toBe('x');
  });

  it('has each hop of a redirect, a failed request, and times that add up', async () => {
    const { entries } = (await harOf('/redirect')).log;
    expect(entries.map(({ response }) => response.status)).toEqual(expect.arrayContaining([302, 200]));
    expect(entries[0]?.response.redirectURL).toBe('/short');
    for (const { time, timings } of entries) {
      const { blocked = -1, dns = -1, connect = -1, send = 0, wait, receive } = timings;
      const sum = [blocked, dns, connect, send, wait, receive].reduce((all, ms) => all + Math.max(0, ms), 0);
      expect(time).toBeCloseTo(sum, 3);
    }
  });

  it.each([
    ['http', 'http/1.1'],
    ['https', 'h2'],
  ] as const)(
    'tells headers and bodies apart, and counts nothing for what came from a cache, over %s',
    async (scheme, version) => {
      await using server = await sizesOver(scheme);
      const request = {
        outputs: ['har'],
        evidence: ['network'],
        waitForFunction: "document.title === 'done'",
      } as const;
      const { outputs, evidence } = await server.actor.capture(captureRequest(server.origin, request), patience);
      const har: Har = JSON.parse(String(outputs.har?.content));
      expect(ajv.validate('har.json#', har), ajv.errorsText()).toBe(true);
      expect(new Set(har.log.entries.map(({ response }) => response.httpVersion))).toContain(version);
      const sizes = har.log.entries.map(({ request, response }) => {
        const { status, headersSize, bodySize, content } = response;
        const { pathname } = new URL(request.url);
        return { pathname, status, hasHeaders: headersSize > 0, bodySize, size: content.size };
      });
      const of = (path: string) => sizes.filter(({ pathname }) => pathname === path);
      const row = (pathname: string, status: number, bodySize: number, size = bodySize, isReceived = true) => ({
        ...{ pathname, status, hasHeaders: isReceived && scheme === 'http', bodySize, size },
      });
      expect(of('/moved')).toEqual([row('/moved', 302, 0)]);
      expect(of('/moved-with-text')).toEqual([row('/moved-with-text', 302, 0)]);
      expect(of('/none')).toEqual([row('/none', 204, 0)]);
      expect(of('/empty')).toEqual([row('/empty', 404, 0)]);
      expect(of('/gzip')).toEqual([row('/gzip', 200, ZIPPED.length, LONG.length)]);
      expect(of('/in-chunks')).toEqual([row('/in-chunks', 200, LONG.length)]);
      expect(of('/gzip-in-chunks')).toEqual([row('/gzip-in-chunks', 200, -1, LONG.length)]);
      expect(of('/unchanged')).toEqual([row('/unchanged', 200, LONG.length), row('/unchanged', 304, 0, LONG.length)]);
      const kept = (path: string) => row(path, 200, 0, LONG.length, false);
      expect(of('/kept')).toEqual([row('/kept', 200, LONG.length), kept('/kept')]);
      expect(of('/script')).toEqual([row('/script', 200, LONG.length), kept('/script')]);
      expect(har.log.entries.flatMap(({ _fromCache = [] }) => _fromCache)).toEqual(['disk', 'memory']);
      const bytes = (path: string) =>
        evidence.network?.items.filter(({ url }) => new URL(url).pathname === path).map((item) => item.bytes);
      expect(bytes('/script')).toEqual([expect.toSatisfy((all) => all > LONG.length), 0]);
      expect(bytes('/kept')).toEqual([expect.toSatisfy((all) => all > LONG.length), 0]);
    },
  );

  it('is bounded for a page that requests long addresses', async () => {
    await using server = await listening(
      createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end(`<title>-</title><script>onload = async () => {
          for (let at = 0; at < 400; at += 8) {
            const some = Array.from({ length: 8 }, (_, more) => fetch('/none?' + (at + more) + 'x'.repeat(30_000)));
            await Promise.allSettled(some);
          }
          document.title = 'done';
        }</script>`);
      }),
    );
    const request = { outputs: ['har'], waitForFunction: "document.title === 'done'" } as const;
    const url = `http://127.0.0.1:${server.port}`;
    const { outputs } = await ground.running.actor.capture(captureRequest(url, request), patience);
    const har: Har = JSON.parse(String(outputs.har?.content));
    expect(ajv.validate('har.json#', har), ajv.errorsText()).toBe(true);
    expect(har.log.entries.length).toBeGreaterThan(100);
    expect(har.log.entries.length).toBeLessThan(300);
    expect(outputs.har?.partial).toBe(true);
  });

  it('withholds cookies, credentials and the headers of the request', async () => {
    const har = await harOf('/short', {
      headers: { 'X-Secret': 'hush-header' },
      cookies: [{ name: 'sid', value: 'hush-cookie' }],
      httpCredentials: { username: 'ida', password: 'hush-password' },
    });
    const text = JSON.stringify(har);
    expect(text).not.toContain('hush');
    expect(text).toContain('(withheld)');
  });
});
