import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright';
import sharp from 'sharp';
import { z } from 'zod';
import { listening } from '../test/egress/listening.ts';
import { SAMPLE_PAGES, startSite } from '../test/fixtures/site.ts';
import { setup as useOneDirectory } from '../test/support/one-temporary-directory.ts';
import { startService } from '../test/support/service.ts';
import { buildUi, launchBrowser } from '../test/ui/ui-service.ts';

/* Takes the README's screenshots of the web interface, with captures of the sample site. */

const IMAGES = join(import.meta.dirname, '../docs/images');
const VIEWPORT = { width: 1280, height: 760 };
/** Encoding quality: text stays sharp, at a tenth of a PNG's file size. */
const QUALITY = 82;
/** Maximum number of URLs per batch in the service that the tests start. */
const BATCH = 10;

/** Runs of each watch. */
const RUNS = 6;

const Captured = z.object({ data: z.object({ id: z.number() }) });
const Watched = z.object({ data: z.object({ id: z.number(), runs: z.number() }) });

process.once('exit', await useOneDirectory());
const site = await startSite();
const uiDirectory = await buildUi();
const service = await startService({}, { uiDirectory });
const browser = await launchBrowser();
const timetable = await (await fetch(site.url('/timetable'))).text();
let visits = 0;
/** The timetable, with news in its heading at every third visit. */
const changing = await listening(
  createServer((_, response) => {
    visits += 1;
    const news = visits % 3 === 0 ? 'Ferries today: the 07:15 is cancelled' : 'Ferries today';
    const page = timetable.replaceAll('Ferries today', news).replace('<head>', `<head><base href="${site.url('/')}">`);
    response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  }),
);
try {
  const ids = new Map<string, number>();
  for (const path of [...SAMPLE_PAGES, '/404', '/timetable']) {
    const response = await service.post('/screenshot', { url: site.url(path), evidence: 'all' });
    ids.set(path, Captured.parse(await response.json()).data.id);
  }
  await take('ui-gallery', '/ui/', 'light', async (page) => {
    await page.locator('.card img').nth(8).waitFor();
    const loaded = await page
      .locator('.card img')
      .evaluateAll((images) => Promise.all(images.map((image) => Reflect.get(image, 'decode').call(image))));
    if (loaded.length < 8) throw new Error(`only ${loaded.length} thumbnails were loaded`);
  });
  await take('ui-capture', `/ui/results/${ids.get('/timetable')}`, 'light', async (page) => {
    await page.locator('.canvas img').evaluate((image) => Reflect.get(image, 'decode').call(image));
    await page.locator('.related li').first().waitFor();
  });
  await watch(site.url('/tide-table'), '6h');
  await watch(`http://127.0.0.1:${changing.port}/departures`, '1h');
  await take('ui-watches', '/ui/watches', 'light', async (page) => {
    await page
      .locator('.film img')
      .nth(2 * RUNS - 1)
      .waitFor();
    const pictures = page.locator('.film img');
    const shown = () =>
      pictures.evaluateAll((images) => images.filter((image) => Reflect.get(image, 'naturalWidth') > 0));
    while ((await shown()).length < 2 * RUNS) await delay(100);
  });
  await take('ui-operations', '/ui/operations', 'dark', async (page) => {
    await page.locator('.chart').first().waitFor();
    const requests = Array.from({ length: 50 }, (_, at) => ({
      url: site.url(SAMPLE_PAGES[at % SAMPLE_PAGES.length] ?? '/'),
    }));
    for (let at = 0; at < requests.length; at += BATCH) {
      await service.post('/batch', { requests: requests.slice(at, at + BATCH) });
    }
    // The second sample is certain to be taken after the last capture.
    for (let sample = 0; sample < 2; sample += 1) {
      await page.waitForResponse(async (response) => {
        return response.url().includes('/stats/history') && (await response.text()).includes('interval_ms');
      });
    }
  });
} finally {
  await browser.close();
  await service.stop();
  await site.close();
  await changing[Symbol.asyncDispose]();
  await rm(uiDirectory, { recursive: true, force: true });
}

/** Adds a watch, and lets it run. */
async function watch(url: string, every: string): Promise<void> {
  const { data } = Watched.parse(await (await service.post('/watches', { url, every, confirm: false })).json());
  for (let runs = 1; runs <= RUNS; runs += 1) {
    while (Watched.parse(await (await service.call(`/watches/${data.id}`)).json()).data.runs < runs) await delay(100);
    if (runs < RUNS) await service.post(`/watches/${data.id}/run`, undefined);
  }
}

async function take(
  name: string,
  path: string,
  colorScheme: 'light' | 'dark',
  ready: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(service.baseUrl + path);
  await ready(page);
  const file = join(IMAGES, `${name}.webp`);
  const { size } = await sharp(await page.screenshot())
    .webp({ quality: QUALITY })
    .toFile(file);
  process.stdout.write(`${file}: ${size} bytes\n`);
  await context.close();
}
