import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { launchBrowser } from '../ui/ui-service.ts';
import { failureOf } from './answers.ts';

const KEY = 'a-key';
/** Names that browsers do not take for loopback, so that they omit Sec-Fetch-Site without TLS. */
const SERVICE = 'capstan.test';

const site = siteForSuite();
const running = serviceForSuite();
const link = (app: RunningApp) =>
  `http://${SERVICE}:${new URL(app.baseUrl).port}/screenshot?url=${encodeURIComponent(site.url('/short'))}`;

/** Ways in which a page makes its visitor's browser send a GET request. */
const WAYS: Readonly<Record<string, (url: string) => string>> = {
  image: (url) => `<img src="${url}">`,
  'image without a referrer': (url) => `<img referrerpolicy="no-referrer" src="${url}">`,
  frame: (url) => `<iframe src="${url}"></iframe>`,
  script: (url) => `<script src="${url}"></script>`,
  'style sheet': (url) => `<link rel="stylesheet" referrerpolicy="no-referrer" href="${url}">`,
  fetch: (url) => `<script>fetch('${url}', {mode: 'no-cors', referrerPolicy: 'no-referrer'})</script>`,
  'fetch with a User-Agent': (url) =>
    `<script>fetch('${url}', {mode: 'no-cors', referrerPolicy: 'no-referrer', headers: {'User-Agent': 'curl/8.5.0'}})</script>`,
  'fetch with CORS': (url) =>
    `<script>fetch('${url}', {headers: {'User-Agent': 'curl/8.5.0'}}).catch(() => {})</script>`,
  form: (url) =>
    `<form action="${url}"><input name="url" value="${new URL(url).searchParams.get('url')}"></form><script>document.forms[0].submit()</script>`,
  navigation: (url) => `<script>location = '${url}'</script>`,
};

describe('a page of another origin in a browser, over plain HTTP off loopback', () => {
  let open: RunningApp;
  let keyed: RunningApp;
  let browser: Browser;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://x');
    const page = WAYS[searchParams.get('way') ?? '']?.(searchParams.get('link') ?? '') ?? '';
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  });
  let at: Listening;

  beforeAll(async () => {
    open = await serve(running.service, { allowedHosts: [SERVICE] });
    keyed = await serve(running.service, { apiKey: [KEY] });
    at = await listening(server);
    browser = await launchBrowser(['--host-resolver-rules=MAP *.test 127.0.0.1']);
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([open?.close(), keyed?.close(), at?.[Symbol.asyncDispose]()]);
  });

  it.each(Object.keys(WAYS))('captures nothing by an unsigned link: %s', async (way) => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      for (const [app, from] of [
        [open, 'evil.test'],
        // A page of another port has the same site, so the session's cookie is sent with its requests.
        [keyed, SERVICE],
      ] as const) {
        const { origin } = new URL(link(app));
        const token = await app.post('/session', { key: KEY }).then((answer) => answer.headers.getSetCookie()[0]);
        const value = token?.split(/[=;]/)[1];
        if (value !== undefined) {
          await context.addCookies([
            { name: `capstan_session_${new URL(origin).port}`, value, url: origin, sameSite: 'Strict' },
          ]);
        }
        const hits = site.hits('/short');
        const answered = page.waitForEvent('requestfinished', (request) => request.url().startsWith(origin));
        const failed = page.waitForEvent('requestfailed', (request) => request.url().startsWith(origin));
        const query = new URLSearchParams({ way, link: link(app) });
        await page.goto(`http://${from}:${at.port}/?${query}`, { waitUntil: 'commit' });
        await Promise.any([answered, failed]);
        answered.catch(() => {});
        failed.catch(() => {});
        expect(site.hits('/short')).toBe(hits);
      }
    } finally {
      await context.close();
    }
  });

  const pathOf = (app: RunningApp) => link(app).slice(link(app).indexOf('/screenshot'));
  const ask = (app: RunningApp, headers: Record<string, string>) => app.call(pathOf(app), { headers });
  const BROWSER = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' };

  it('serves what shows that it is a program, or of the same origin, or has a key', async () => {
    const { host } = new URL(link(open));
    for (const headers of [
      { 'User-Agent': 'curl/8.5.0' },
      { ...BROWSER, Referer: `http://${host}/ui/` },
      { ...BROWSER, 'Sec-Fetch-Site': 'same-origin' },
      { ...BROWSER, 'Sec-Fetch-Site': 'none' },
    ]) {
      expect((await requestTo(open, host, headers)).status, JSON.stringify(headers)).toBe(200);
    }
    expect((await ask(keyed, { ...BROWSER, 'X-API-Key': KEY })).status).toBe(200);
    for (const headers of [
      BROWSER,
      {},
      { ...BROWSER, Referer: 'http://evil.test/' },
      { 'User-Agent': 'curl/8.5.0', Origin: 'http://evil.test' },
      { ...BROWSER, 'Sec-Fetch-Site': 'same-site' },
    ]) {
      const refused = await requestTo(open, host, headers);
      expect(refused.status, JSON.stringify(headers)).toBe(403);
      expect(refused.body).toContain('link_refused');
    }
  });

  it('takes a request to loopback by the site that the browser names, since browsers name it there', async () => {
    expect((await ask(open, BROWSER)).status).toBe(200);
    const refused = await ask(open, { ...BROWSER, 'Sec-Fetch-Site': 'cross-site' });
    expect(await failureOf(refused)).toMatchObject({ code: 'link_refused' });
  });

  /** Sends a request with exactly these headers: `fetch` would set Host and User-Agent. */
  async function requestTo(app: RunningApp, host: string, headers: Record<string, string>) {
    const sent = request(app.baseUrl + pathOf(app), { headers: { Host: host, ...headers } }).end();
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = await response.toArray();
    return { status: Number(response.statusCode), body: Buffer.concat(chunks).toString('latin1') };
  }
});
