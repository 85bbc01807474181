import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DetailedResultSchema } from '../../src/http/answer/schemas.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { colourAt, pngOf } from '../support/image.ts';

const URL_OF_HTML = 'http://html.invalid/';
const GREEN = '<!doctype html><title>Green</title><style>html{background:rgb(0,160,0)}</style>';

const Answer = z.object({ data: DetailedResultSchema });
const Refusal = z.object({ code: z.string(), error: z.string() });
const Items = z.array(z.object({ url: z.string(), result: z.object({ title: z.string() }) }));

/** A page whose title becomes what each of these sources came to, by the events of an image. */
const images = (...sources: readonly string[]) => `<!doctype html><title></title><script>
  const came = ${JSON.stringify(sources)}.map((src) => new Promise((resolve) => {
    Object.assign(new Image(), { onload: () => resolve('loaded'), onerror: () => resolve('failed'), src });
  }));
  const all = Promise.all(came).then((words) => { document.title = words.join(', '); return true; });
  </script>`;

describe('a capture of given HTML', () => {
  const site = siteForSuite();
  const app = serviceForSuite();

  const shoot = async (request: Readonly<Record<string, unknown>>) => {
    const response = await app.post('/screenshot', request);
    expect(response.status, await response.clone().text()).toBe(200);
    return Answer.parse(await response.json()).data;
  };
  const refusalOf = async (request: Readonly<Record<string, unknown>>) => {
    const response = await app.post('/screenshot', request);
    return `${response.status} ${Refusal.parse(await response.json()).error}`;
  };
  const imageOf = async (path: string) =>
    await pngOf({ image: Buffer.from(await (await app.call(path)).arrayBuffer()) });

  it('shows the HTML, and records a URL that exists nowhere', async () => {
    const result = await shoot({ html: `${GREEN}<p>Grüße` });
    expect(result).toMatchObject({
      url: URL_OF_HTML,
      final_url: URL_OF_HTML,
      host: 'html.invalid',
      remote_ip: null,
      response_code: 200,
      title: 'Green',
      options: { html: `${GREEN}<p>Grüße` },
      failed: false,
      partial: false,
    });
    expect(colourAt(await imageOf(result.screenshot), 640, 360)).toEqual([0, 160, 0, 255]);
    expect(await (await app.call(result.html)).text()).toContain('<p>Grüße');
    const listed = await (await app.call('/results/by-host?host=html.invalid')).json();
    expect(listed).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ id: result.id })]) });
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a full page', { fullPage: true }],
    ['a PDF', { format: 'pdf' }],
    ['an element', { selector: 'main' }],
    ['a phone', { device: 'iPhone 15' }],
  ])('takes the options of any capture: %s', async (_, options) => {
    const result = await shoot({ html: `${GREEN}<main style="height:3000px">Ships</main>`, ...options });
    expect(result).toMatchObject({ title: 'Green', format: options.format ?? 'png', partial: false });
    if (options.fullPage === true) expect(result.height).toBeGreaterThanOrEqual(3000);
  });

  it('runs scripts and actions in it', async () => {
    const html = `<!doctype html><title>Shut</title><button onclick="document.title = window.name + ' open'">Open</button>`;
    const javascript = { before: "window.name = 'Port'" };
    expect(await shoot({ html, javascript, actions: [{ type: 'click', selector: 'button' }] })).toMatchObject({
      title: 'Port open',
    });
  });

  it('reaches no network by default', async () => {
    const sources = ['http', 'ws'].map((scheme) => site.url(`/late/plate.svg?none-${scheme}`).replace('http', scheme));
    expect((await shoot({ html: images(...sources), waitForFunction: 'all' })).title).toBe('failed, failed');
    const away = `<script>location.replace('${site.url('/title?t=none')}')</script>`;
    expect(await refusalOf({ html: away })).toBe('403 given HTML has no network without allowNetwork');
    expect(site.requests.filter(({ url }) => url?.includes('none'))).toEqual([]);
    expect(await refusalOf({ html: GREEN, proxy: { server: 'http://127.0.0.1:9' } })).toBe(
      '400 proxy: requires allowNetwork: HTML has no network',
    );
    expect(await refusalOf({ url: site.url('/short'), allowNetwork: true })).toBe(
      '400 allowNetwork: requires html: a url has the network',
    );
  });

  it('loads what any page may load with allowNetwork, without a referrer, and nothing else', async () => {
    const picture = site.url('/late/plate.svg?given');
    const sources = [picture, picture.replace('127.0.0.1', '[::1]'), 'http://10.0.0.1/x.png', 'file:///etc/hostname'];
    const { title } = await shoot({ html: images(...sources), waitForFunction: 'all', allowNetwork: true });
    expect(title).toBe('loaded, failed, failed, failed');
    const sent = site.requests.find(({ url }) => url === '/late/plate.svg?given');
    expect(sent?.headers).not.toHaveProperty('referer');
  });

  it('has no base for relative URLs, unless it names one', async () => {
    const relative = images('/late/plate.svg?base', 'late/plate.svg?base');
    expect((await shoot({ html: relative, waitForFunction: 'all', allowNetwork: true })).title).toBe('failed, failed');
    const based = relative.replace('<script>', `<base href="${site.url('/')}"><script>`);
    expect((await shoot({ html: based, waitForFunction: 'all', allowNetwork: true })).title).toBe('loaded, loaded');
  });

  it('is not shown in a frame of itself', async () => {
    const html = `<!doctype html><title>Once</title><script>if (top !== window) top.document.title = 'Twice';</script>
      <iframe src="/"></iframe><iframe src="http://html.invalid/"></iframe>`;
    expect((await shoot({ html })).title).toBe('Once');
  });

  it('may send the page elsewhere, where the record then says that it ended', async () => {
    const html = `<!doctype html><title>Away</title><script>location.replace('${site.url('/title?t=there')}')</script>`;
    expect(await shoot({ html, allowNetwork: true })).toMatchObject({
      url: URL_OF_HTML,
      final_url: site.url('/title?t=there'),
      title: 'there',
    });
  });

  it('is reused for the same HTML, and not for other HTML', async () => {
    const html = `${GREEN}<p>Reused`;
    const first = await shoot({ html });
    expect(await shoot({ html, cacheMaxAgeMs: 60_000 })).toMatchObject({ id: first.id, cached: true });
    expect(await shoot({ html: `${html}!`, cacheMaxAgeMs: 60_000 })).toMatchObject({ cached: false });
  });

  it('takes up to 262144 characters, which lists of records leave out', async () => {
    const html = GREEN.padEnd(262_144, 'ü');
    const result = await shoot({ html });
    expect(result).toMatchObject({ title: 'Green', options_withheld: ['html'] });
    expect(result.options).not.toHaveProperty('html');
    expect(await refusalOf({ html: `${html}!` })).toBe('400 html: must be HTML of 1 to 262144 characters');
  });

  it('may be an item of a batch, also as a line', async () => {
    const requests = [
      { html: '<title>One</title>' },
      { url: site.url('/title?t=two') },
      { html: `<title>Three</title>${'語'.repeat(250_000)}` },
    ];
    const whole = await app.post('/batch', { requests });
    const items = Items.parse(await whole.json());
    expect(items.map(({ result }) => result.title)).toEqual(['One', 'two', 'Three']);
    expect(items.map(({ url }) => url)).toEqual([URL_OF_HTML, site.url('/title?t=two'), URL_OF_HTML]);
    const lines = await app.call('/batch', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson', Accept: 'application/json' },
      body: requests.map((each) => JSON.stringify(each)).join('\n'),
    });
    const fromLines = Items.parse(await lines.json());
    expect(fromLines.map(({ result }) => result.title)).toEqual(['One', 'two', 'Three']);
  });

  it('may be captured by a job', async () => {
    const accepted = await app.post('/screenshot', { html: GREEN }, { headers: { Prefer: 'respond-async' } });
    expect(accepted.status).toBe(202);
    const job = accepted.headers.get('Location') ?? '';
    const read = async (): Promise<unknown> => (await app.call(job)).json();
    await expect.poll(read).toMatchObject({
      data: { state: 'completed', results: [{ url: URL_OF_HTML, result: { title: 'Green' } }] },
    });
  });

  it.each([
    [{}, 'url: is required, unless html is given'],
    [{ html: '' }, 'html: must be HTML of 1 to 262144 characters'],
    [{ html: GREEN, isolation: 'batch' }, 'isolation: batch cannot be combined with html: remove one of them'],
    [{ html: GREEN, url: 'https://example.com/' }, 'html: cannot be combined with url: remove one of them'],
    [{ html: GREEN, headers: { 'X-Token': '1' } }, 'headers: requires a url: HTML comes from no server'],
    [
      { html: GREEN, httpCredentials: { username: 'a', password: 'b' } },
      'httpCredentials: requires a url: HTML comes from no server',
    ],
  ])('is refused as %j', async (request, reason) => {
    expect(await refusalOf(request)).toBe(`400 ${reason}`);
  });

  it('is not a parameter of links', async () => {
    const response = await app.call(`/screenshot?html=${encodeURIComponent(GREEN)}`);
    expect(response.status).toBe(400);
  });
});

describe('an operator', () => {
  const app = serviceForSuite({ denyTargets: ['html.invalid'] });

  it('denies captures of given HTML by denying its host', async () => {
    const response = await app.post('/screenshot', { html: GREEN });
    expect([response.status, Refusal.parse(await response.json()).code]).toEqual([403, 'target_forbidden']);
  });
});
