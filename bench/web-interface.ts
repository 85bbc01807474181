import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright';
import { z } from 'zod';
import { putCapture } from '../src/storage/ports/artifact-store.ts';
import { NO_BROWSER, startService } from '../test/support/service.ts';
import { buildUi } from '../test/ui/ui-service.ts';
import { seededResults } from './seeded-results.ts';
import type { BenchOptions } from './support/bench.ts';
import { fillSqlite } from './support/large-store.ts';
import { percentile } from './support/statistics.ts';
import type { Finding } from './support/table.ts';

const FIRST_PAINT_MS = 1000;
/** Number of results of the first paint. */
const PAINTED = 100_000;
/** Newest results that have an image. */
const WITH_IMAGE = 1500;
const SCROLLED_MS = 10_000;
/** Distance for each frame, in CSS pixels: 3 screens a second at 60 frames. */
const STEP = 40;
const SMOOTH_MS = 50;

const Painted = z.object({ paint: z.number(), cards: z.number() });
const Scrolled = z.object({ frames: z.array(z.number()), distance: z.number(), cards: z.number() });

/** Measures the first paint of the gallery over many results, and frames and requests while it is scrolled. */
export async function webInterface({
  browserPath,
  rounds,
  storedResults,
  print,
}: BenchOptions): Promise<readonly Finding[]> {
  const uiDirectory = await buildUi();
  try {
    const paint = await withGallery(PAINTED, browserPath, uiDirectory, (open) => firstPaint(open, rounds));
    const smooth = await withGallery(storedResults, browserPath, uiDirectory, async (open) => {
      const { page } = await open();
      let requests = 0;
      page.on('request', (request) => {
        if (request.url().includes('/results')) requests += 1;
      });
      const { frames, distance, cards } = Scrolled.parse(await page.evaluate(SCROLL));
      return { frames, distance, cards, requests };
    });
    const { frames } = smooth;
    print(
      `gallery over ${PAINTED} results, ms: first contentful paint p50 ${ms(percentile(paint.paint, 0.5))}, at most ${ms(percentile(paint.paint, 1))}; list received p50 ${ms(percentile(paint.cards, 0.5))}\n` +
        `gallery over ${storedResults} results, scrolled ${smooth.distance} pixels in ${SCROLLED_MS / 1000} s: ` +
        `${frames.length} frames, ms p50 ${ms(percentile(frames, 0.5))}, p95 ${ms(percentile(frames, 0.95))}, at most ${ms(percentile(frames, 1))}; ` +
        `${smooth.requests} requests for lists; ${smooth.cards} cards in the document`,
    );
    return [
      {
        what: `first contentful paint of the gallery over ${PAINTED} results`,
        figure: `p50 ${ms(percentile(paint.paint, 0.5))} ms, at most ${ms(percentile(paint.paint, 1))} ms`,
        target: `< ${FIRST_PAINT_MS} ms`,
        met: percentile(paint.paint, 1) < FIRST_PAINT_MS,
      },
      {
        what: `frames while the gallery over ${storedResults} results is scrolled, p95`,
        figure: `${ms(percentile(frames, 0.95))} ms`,
        target: `< ${SMOOTH_MS} ms`,
        met: percentile(frames, 0.95) < SMOOTH_MS,
      },
    ];
  } finally {
    await rm(uiDirectory, { recursive: true, force: true });
  }
}

type Open = () => Promise<{ readonly page: Page; close(): Promise<void> }>;

async function withGallery<T>(
  results: number,
  browserPath: string,
  uiDirectory: string,
  work: (open: Open) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const dbPath = join(directory, 'results.db');
  fillSqlite(dbPath, seededResults(results));
  const service = await startService({ ...NO_BROWSER, dbPath }, { uiDirectory });
  const browser = await chromium.launch({ executablePath: browserPath, chromiumSandbox: false });
  try {
    const image = await readFile(join(import.meta.dirname, '../test/fixtures/site/image.png'));
    for (const record of await service.service.results.page({ by: 'all' }, WITH_IMAGE)) {
      await putCapture(service.service.artifacts, record, { image, html: '' });
    }
    return await work(async () => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const page = await context.newPage();
      await page.goto(`${service.baseUrl}/ui/`);
      await page.locator('.card').first().waitFor();
      return { page, close: () => context.close() };
    });
  } finally {
    await browser.close();
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function firstPaint(open: Open, rounds: number): Promise<{ paint: number[]; cards: number[] }> {
  const paint: number[] = [];
  const cards: number[] = [];
  // Each round has a browser context of its own, and therefore an empty cache.
  for (let round = 0; round < rounds; round += 1) {
    const { page, close } = await open();
    const painted = Painted.parse(await page.evaluate(PAINT));
    paint.push(painted.paint);
    cards.push(painted.cards);
    await close();
  }
  return { paint, cards };
}

/** `cards`: time at which the list was received, after which the cards are drawn in the next frame. */
const PAINT = `({
  paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  cards: performance.getEntriesByType('resource').find(({ name }) => name.includes('/results')).responseEnd,
})`;

/** Scrolls by a step in each frame, and returns the times between frames. */
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('.gallery-scroll');
  const frames = [];
  let last = performance.now();
  const end = last + ${SCROLLED_MS};
  const step = (now) => {
    frames.push(now - last);
    last = now;
    list.scrollBy(0, ${STEP});
    if (now < end) requestAnimationFrame(step);
    else resolve({ frames: frames.slice(1), distance: list.scrollTop, cards: document.querySelectorAll('.card').length });
  };
  requestAnimationFrame(step);
})`;

function ms(value: number): string {
  return value.toFixed(0);
}
