import { createServer, type RequestListener } from 'node:http';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import type { Har } from 'har-format';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { listening } from '../egress/listening.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { patience, startActor } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const LISTED: CaptureOptions = { ...IN_FEW_PIXELS, evidence: ['network'], outputs: ['har'] };

/** The paths that the evidence lists, and those that the HAR lists, in order. */
function listedIn({ evidence, outputs }: Snapshot) {
  const har: Har = JSON.parse(String(outputs.har?.content));
  const paths = (urls: readonly string[] = []) => urls.map((url) => new URL(url).pathname).toSorted();
  return {
    evidence: paths(evidence.network?.items.map(({ url }) => url)),
    har: paths(har.log.entries.map(({ request }) => request.url)),
  };
}

/** A site that notes the paths that it is asked for, and answers `/last` when it was asked for all of these. */
function notingSite(
  page: string,
  headers: Readonly<Record<string, string>>,
  awaited: readonly string[],
  scripts: Readonly<Record<string, string>> = {},
) {
  const requested: string[] = [];
  let waiting: (() => void)[] = [];
  const listener: RequestListener = async ({ url = '' }, response) => {
    requested.push(url);
    if (awaited.every((path) => requested.includes(path))) {
      for (const resume of waiting) resume();
      waiting = [];
    } else if (url === '/last') {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    const script = scripts[url];
    if (script !== undefined) {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
      return;
    }
    const type = url === '/rules' ? 'application/speculationrules+json' : 'text/html';
    response.writeHead(200, { 'content-type': type, ...(url === '/' ? headers : {}) });
    response.end(url === '/' ? page : url === '/rules' ? rulesFor('/from-header') : '');
  };
  return { requested, listener };
}

const rulesFor = (path: string) =>
  JSON.stringify({
    prefetch: [{ source: 'list', urls: [path], eagerness: 'immediate' }],
    prerender: [{ source: 'list', urls: [`${path}-prerendered`], eagerness: 'immediate' }],
  });
const SPECULATING = `<!doctype html><script type=speculationrules>${rulesFor('/inline')}</script>
  <link rel=prefetch href=/prefetched><p>Read on</p><img src=/last>`;
const SPECULATED = ['/inline', '/inline-prerendered'];

describe('requests that the browser makes for later pages', () => {
  const running = actorForSuite();
  const capture = (port: number, options: CaptureOptions = {}) =>
    running.actor.capture(captureRequest(`http://127.0.0.1:${port}/`, { ...LISTED, ...options }), patience);

  it('are listed: speculation rules, also of a header, and prefetched links', async () => {
    const expected = ['/from-header', '/from-header-prerendered', ...SPECULATED, '/prefetched', '/rules'];
    const { requested, listener } = notingSite(SPECULATING, { 'speculation-rules': '"/rules"' }, expected);
    await using site = await listening(createServer(listener));
    const listed = listedIn(await capture(site.port));
    const all = ['/', ...expected, '/last'].toSorted();
    expect(requested.toSorted()).toEqual(all);
    expect(listed).toEqual({ evidence: all, har: all });
  });

  it('are blocked by type and by URL, except those of speculation rules in the page', async () => {
    const blocks: readonly CaptureOptions[] = [
      { block: { types: ['other'] } },
      { block: { urls: ['*/rules', '*/prefetched', '*/inline*', '*/from-header*'] } },
    ];
    for (const block of blocks) {
      const { requested, listener } = notingSite(SPECULATING, { 'speculation-rules': '"/rules"' }, SPECULATED);
      await using site = await listening(createServer(listener));
      const listed = listedIn(await capture(site.port, block));
      expect(requested.toSorted()).toEqual(['/', ...SPECULATED, '/last'].toSorted());
      const all = ['/', ...SPECULATED, '/last', '/prefetched', '/rules'].toSorted();
      expect(listed).toEqual({ evidence: all, har: all });
    }
  });
});

describe('requests of workers', () => {
  const running = actorForSuite();

  /** A script that asks for a path, and then for another one that no test blocks. */
  const asks = (name: string) => `fetch('/of-${name}').catch(() => undefined).then(() => fetch('/done-${name}'))`;
  const NAMES = ['worker', 'nested', 'module', 'shared'];
  const WORKERS: Readonly<Record<string, string>> = {
    '/worker.js': `new Worker('/nested.js'); ${asks('worker')}`,
    '/nested.js': `try { importScripts('/imported.js') } catch {} ${asks('nested')}`,
    '/imported.js': '',
    '/module.js': `import '/dependency.js'; ${asks('module')}`,
    '/dependency.js': '',
    '/shared.js': asks('shared'),
  };
  const PAGE = `<!doctype html><script>
    new Worker('/worker.js'); new Worker('/module.js', { type: 'module' }); new SharedWorker('/shared.js');
  </script><p>Work</p><img src=/last>`;
  const OF = NAMES.map((name) => `/of-${name}`);
  const DONE = NAMES.map((name) => `/done-${name}`);
  const all = ['/', '/last', ...OF, ...DONE, ...Object.keys(WORKERS)].toSorted();

  async function captured(options: CaptureOptions = {}) {
    const { requested, listener } = notingSite(PAGE, {}, DONE, WORKERS);
    await using site = await listening(createServer(listener));
    const request = captureRequest(`http://127.0.0.1:${site.port}/`, { ...LISTED, waitUntil: 'load', ...options });
    return { requested, listed: listedIn(await running.actor.capture(request, patience)) };
  }

  it('are listed once each', async () => {
    const { requested, listed } = await captured();
    expect(requested.toSorted()).toEqual(all);
    expect(listed).toEqual({ evidence: all, har: all });
  });

  it('are blocked, and listed', async () => {
    const { requested, listed } = await captured({ block: { urls: ['*/of-*', '*/imported.js'] } });
    expect(requested.toSorted()).toEqual(all.filter((path) => !/of-|imported/.test(path)));
    expect(listed).toEqual({ evidence: all, har: all });
  });
});

describe('early hints (103)', () => {
  /** Captures a page at a path whose server sends early hints until the browser has asked for `awaited`. */
  async function hinted(path: string, link: string, awaited: readonly string[]) {
    const requested: string[] = [];
    const server = createSecureServer({ key: KEY, cert: CERTIFICATE });
    const asked = Promise.withResolvers<void>();
    server.on('stream', async (stream: ServerHttp2Stream, { ':path': requestedPath = '' }) => {
      requested.push(requestedPath);
      if (awaited.every((each) => requested.includes(each))) asked.resolve();
      if (requestedPath === path) {
        // Chromium ignores a hint that comes before it has chosen a renderer.
        for (let isAsked = false; !isAsked; ) {
          stream.additionalHeaders({ ':status': 103, link });
          isAsked = await Promise.race([asked.promise.then(() => true), delay(50, false)]);
        }
      }
      stream.respond({ ':status': 200, 'content-type': requestedPath === path ? 'text/html' : 'text/css' });
      stream.end(requestedPath === path ? '<!doctype html><link rel=stylesheet href=/used.css><p>Hinted</p>' : '');
    });
    await using site = await listening(server);
    // Chromium heeds early hints only of servers whose certificate it accepts.
    const browserPath = await browserStartedBy((executable) => `exec ${executable} "$@" --ignore-certificate-errors`);
    const running = await startActor({ browserPath });
    try {
      const request = captureRequest(`https://127.0.0.1:${site.port}${path}`, LISTED);
      const snapshot = await running.actor.capture(request, patience);
      const preloads = snapshot.evidence.network?.items.filter(({ type }) => type === 'preload') ?? [];
      const preloaded = preloads.map(({ url }) => new URL(url).pathname);
      return { preloaded, listed: listedIn(snapshot), requested: new Set(requested) };
    } finally {
      await running.stop();
    }
  }

  it('are listed as what they may make the browser preload', async () => {
    const { preloaded, listed, requested } = await hinted(
      '/',
      '</used.css>; rel=preload; as=style, </unused.js>; rel=modulepreload, <https://x.test>; rel=preconnect',
      ['/used.css', '/unused.js'],
    );
    expect(preloaded).toEqual(['/used.css', '/unused.js']);
    const all = ['/', '/unused.js', '/used.css', '/used.css'];
    expect(listed).toEqual({ evidence: all, har: all });
    expect(requested).toEqual(new Set(all));
  });

  it('are listed up to a maximum, relative to a long URL', async () => {
    const path = `/deep/${'a'.repeat(1_100)}/page`;
    const links = Array.from({ length: 60 }, (_, i) => `<../${i}.css>; rel=preload; as=style`);
    const { preloaded, listed } = await hinted(path, links.join(', '), ['/deep/0.css']);
    expect(preloaded).toEqual(Array.from({ length: 50 }, (_, i) => `/deep/${i}.css`));
    const har = [path, '/used.css', ...preloaded].toSorted();
    expect(listed.har).toEqual(har);
  });
});
