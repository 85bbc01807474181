import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright';
import sharp from 'sharp';
import { z } from 'zod';
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

const Captured = z.object({ data: z.object({ id: z.number() }) });

process.once('exit', useOneDirectory());
const site = await startSite();
const uiDirectory = await buildUi();
const service = await startService({}, { uiDirectory });
const browser = await launchBrowser();
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
  await rm(uiDirectory, { recursive: true, force: true });
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
