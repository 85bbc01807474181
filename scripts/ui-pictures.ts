import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { BrowserContextOptions, Page } from 'playwright';
import { z } from 'zod';
import { SAMPLE_PAGES, startSite } from '../test/fixtures/site.ts';
import { setup as useOneDirectory } from '../test/support/one-temporary-directory.ts';
import { startService } from '../test/support/service.ts';
import { buildUi, launchBrowser } from '../test/ui/ui-service.ts';

/*
 * Takes pictures of every view of the web interface, in light and dark colours, as large as a phone, a desktop and a
 * 4K screen, for people to look at after a change.
 *
 * node scripts/ui-pictures.ts <directory> [names of pictures...] [--screen phone|desktop|4k]...
 */

const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desktop: { viewport: { width: 1280, height: 800 } },
  '4k': { viewport: { width: 3840, height: 2160 } },
};
const COLOURS = ['light', 'dark'] as const;
const API_KEY = 'the-key-of-the-pictures';
const TABS = ['Network', 'Redirects', 'Headers', 'TLS', 'Console', 'Cookies'];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { screen: { type: 'string', multiple: true, default: Object.keys(SCREENS) } },
});
const [directory, ...only] = positionals;
if (directory === undefined) throw new Error('usage: node scripts/ui-pictures.ts <directory> [names...]');
const target = resolve(directory);
await mkdir(target, { recursive: true });

const Watched = z.object({ data: z.object({ runs: z.number() }) });
const Captured = z.object({ data: z.object({ id: z.number() }) });

process.once('exit', await useOneDirectory());
const site = await startSite();
const uiDirectory = await buildUi();
const service = await startService({}, { uiDirectory });
const guarded = await startService({}, { uiDirectory, apiKey: [API_KEY] });
const browser = await launchBrowser();

let changes = 0;
const ferries = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(ferryPage(changes));
}).listen(0, '127.0.0.1');
await once(ferries, 'listening');

/** Watches a page that has a clock and an offer, and changes now and then. Returns the id of the watch. */
async function watch(): Promise<number> {
  const { port } = z.object({ port: z.number() }).parse(ferries.address());
  const ignore = ['selector:#clock', 'selector:.offer'];
  const compare = { visual: true, text: true, links: true };
  const body = {
    url: `http://127.0.0.1:${port}/ferries`,
    every: '1h',
    labels: ['prices'],
    compare,
    ignore,
    fullPage: true,
  };
  const { id } = Captured.parse(await (await service.post('/watches', { ...body, confirm: false })).json()).data;
  for (let runs = 1; runs <= 12; runs += 1) {
    changes = runs;
    while ((await watchOf(id)).runs < runs) await setTimeout(100);
    await service.post(`/watches/${id}/run`, undefined);
  }
  return id;
}

async function watchOf(id: number) {
  return Watched.parse(await (await service.call(`/watches/${id}`)).json()).data;
}

async function capture(path: string, options = {}): Promise<number> {
  const body = { url: site.url(path), evidence: 'all', ...options };
  return Captured.parse(await (await service.post('/screenshot', body)).json()).data.id;
}

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly baseUrl?: string;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

try {
  for (const path of [...SAMPLE_PAGES, '/404', '/evidence/network', '/long']) await capture(path);
  await capture('/long', { fullPage: true });
  const before = await capture('/timetable');
  const after = await capture('/lighthouse');
  const rich = await capture('/evidence/network');
  const full = await capture('/long', { fullPage: true });
  await service.post('/batch', { requests: SAMPLE_PAGES.slice(0, 5).map((path) => ({ url: site.url(path) })) });
  const requests = SAMPLE_PAGES.slice(0, 5).map((path) => ({ url: site.url(path) }));
  await service.post('/batch', { requests }, { headers: { Prefer: 'respond-async' } });

  const watched = await watch();

  const click = (name: string) => (page: Page) => page.getByText(name, { exact: true }).first().click();
  const pictures: readonly Picture[] = [
    { name: 'gallery', path: '/ui/', prepare: (page) => page.locator('.card img').nth(3).waitFor() },
    {
      name: 'gallery-filters',
      path: '/ui/?status=2xx&text=ferries',
      prepare: (page) => page.locator('.card').first().waitFor(),
    },
    { name: 'gallery-nothing', path: '/ui/?host=nowhere.test' },
    {
      name: 'gallery-chosen',
      path: '/ui/',
      prepare: async (page) => {
        for (const at of [0, 1]) await page.locator('.card-choose').nth(at).click();
      },
    },
    { name: 'help', path: '/ui/', prepare: (page) => page.keyboard.press('?') },
    { name: 'curl', path: '/ui/', prepare: (page) => page.getByRole('button', { name: 'Copy as curl' }).click() },
    { name: 'capture', path: '/ui/capture', prepare: (page) => page.getByText('fullPage').waitFor() },
    {
      name: 'capture-done',
      path: `/ui/capture?url=${encodeURIComponent(site.url('/timetable'))}`,
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Capture' }).click();
        await page.getByRole('link', { name: 'Open the capture' }).waitFor();
      },
    },
    { name: 'detail', path: `/ui/results/${before}` },
    { name: 'detail-full-page', path: `/ui/results/${full}`, prepare: click('Full page') },
    { name: 'detail-1-1', path: `/ui/results/${full}`, prepare: click('1:1') },
    { name: 'detail-html', path: `/ui/results/${before}`, prepare: click('HTML snapshot') },
    ...TABS.map((name) => ({
      name: `detail-tab-${name.toLowerCase()}`,
      path: `/ui/results/${rich}`,
      prepare: async (page: Page) => {
        await page.getByRole('tab', { name }).click();
        await page.getByRole('tabpanel').scrollIntoViewIfNeeded();
      },
    })),
    { name: 'detail-missing', path: '/ui/results/12', prepare: (page) => page.getByRole('alert').waitFor() },
    ...['Side by side', 'Slider', 'Difference'].map((name) => ({
      name: `compare-${name.toLowerCase().replaceAll(' ', '-')}`,
      path: `/ui/compare?a=${before}&b=${after}`,
      prepare: click(name),
    })),
    {
      name: 'compare-choose',
      path: `/ui/compare?a=${before}`,
      prepare: (page) => page.locator('.choices').first().waitFor(),
    },
    { name: 'compare-empty', path: '/ui/compare' },
    { name: 'watches', path: '/ui/watches', prepare: (page) => page.locator('.film img').first().waitFor() },
    {
      name: 'watch',
      path: `/ui/watches/${watched}`,
      prepare: async (page) => {
        await page.locator('.mark-ignored').first().waitFor();
        await page.getByRole('application').hover({ position: { x: 120, y: 60 } });
      },
    },
    { name: 'watch-new', path: '/ui/watches/new?url=https%3A%2F%2Fexample.com%2F' },
    {
      name: 'watch-compare',
      path: '/ui/watches',
      prepare: async (page) => {
        await page.locator('.film .changed a').last().click();
        await page.locator('.changes li').first().hover();
      },
    },
    { name: 'detail-elements', path: `/ui/results/${before}`, prepare: click('Element map') },
    {
      name: 'operations',
      path: '/ui/operations',
      prepare: async (page) => {
        await page.locator('.chart canvas').last().waitFor();
        for (const path of SAMPLE_PAGES.slice(0, 4)) await service.post('/screenshot', { url: site.url(path) });
        for (let at = 0; at < 3; at += 1) await page.waitForResponse((response) => response.url().endsWith('/stats'));
      },
    },
    { name: 'login', path: '/ui/', baseUrl: guarded.baseUrl, prepare: (page) => page.getByLabel('API key').waitFor() },
    { name: 'docs', path: '/docs', prepare: (page) => page.locator('.opblock').first().waitFor() },
  ];
  for (const picture of pictures) {
    if (only.length > 0 && !only.includes(picture.name)) continue;
    for (const screen of values.screen) for (const colours of COLOURS) await take(picture, screen, colours);
  }
} finally {
  await browser.close();
  await Promise.all([service.stop(), guarded.stop()]);
  await site.close();
  ferries.close();
  await rm(uiDirectory, { recursive: true, force: true });
}

async function take(picture: Picture, screen: string, colorScheme: 'light' | 'dark'): Promise<void> {
  const { name, path, baseUrl = service.baseUrl, prepare } = picture;
  const context = await browser.newContext({ ...SCREENS[screen], colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  try {
    await page.goto(baseUrl + path);
    await prepare?.(page);
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
  } catch (error) {
    process.stderr.write(`${name} ${screen}: ${String(error).split('\n')[0]}\n`);
  }
  await page.screenshot({ path: join(target, `${name}-${screen}-${colorScheme}.png`) });
  await context.close();
}

function ferryPage(step: number): string {
  const price = step > 4 ? 139 : 129;
  const rows = ['Skagen 09:15', 'Hals 10:40', 'Anholt 12:05'].map(
    (row) => `<tr><td>${row}<td class="price">${price} kr.`,
  );
  const notice = step > 8 ? '<div class="notice">Storm warning: the evening ferry does not sail</div>' : '';
  return `<!doctype html><title>Harbour ferries</title><style>
body { margin: 0; font: 18px/1.5 sans-serif; color: #123 }
header { display: flex; justify-content: space-between; padding: 24px 60px; background: #0b3d5c; color: #fff }
main { max-width: 900px; margin: 30px auto } table { width: 100%; border-collapse: collapse }
td { padding: 10px; border-bottom: 1px solid #cde } .notice { padding: 14px 60px; background: #a00; color: #fff }
.offer { margin: 30px 0; padding: 40px; background: #fd6; text-align: center; font-size: 28px }
footer { padding: 30px; margin-top: ${step % 3 === 2 ? 420 : 400}px; background: #eef }</style>
<header><strong>Harbour ferries</strong><span id="clock">${new Date().toISOString()}</span></header>${notice}
<main><h1>Departures today</h1><table>${rows.join('')}</table>
<div class="offer">Offer ${Math.floor(Math.random() * 900 + 100)}</div>
<p>${'The crossing takes two hours in calm weather. '.repeat(12)}</main><footer>Port office, open until 18:00</footer>`;
}
