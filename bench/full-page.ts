import { type Colour, countOf, pixelsOf } from '../test/support/image.ts';
import type { BenchOptions } from './support/bench.ts';
import { rotated } from './support/rounds.ts';
import { startBenchSite } from './support/site.ts';
import { median } from './support/statistics.ts';
import { atLeast, type Finding, formatTable } from './support/table.ts';
import { hasPeers, openTools, type Tool, WITHOUT_PUPPETEER } from './support/tools.ts';

/** Lazy images of the fixture's gallery, their colour, and the pixels of each. */
const LAZY_IMAGES = 20;
const LAZY_COLOUR: Colour = [0, 160, 0, 255];
const LAZY_PIXELS = 200 * 100;

const PAGES = [
  { title: 'tall, static', path: '/long', lazyImages: 0 },
  { title: 'lazy images', path: `/late/gallery?count=${LAZY_IMAGES}`, lazyImages: LAZY_IMAGES },
  { title: 'heavy', path: '/heavy', lazyImages: 0 },
] as const;

interface Measured {
  readonly windowMs: number;
  readonly fullPageMs: number;
  readonly height: number;
  /** Share of the lazy images' pixels that the full page shows; undefined for a page without lazy images. */
  readonly lazyShown: number | undefined;
}

/** Compares `fullPage` with that of other tools: time, also that of a window, and share of the lazy images shown. */
export async function fullPage({ browserPath, rounds, print, report }: BenchOptions): Promise<readonly Finding[]> {
  await using site = await startBenchSite();
  await using opened = new AsyncDisposableStack();
  const puppeteer = hasPeers ? { puppeteer: 'peers/puppeteer.mjs' } : {};
  if (!hasPeers) report(`full-page: ${WITHOUT_PUPPETEER}`);
  const tools = await openTools(browserPath, opened, { Playwright: 'playwright-loop.ts', ...puppeteer });
  // The first capture of a browser is slower.
  for (const tool of tools) await tool.capture(`${site.origin}/short`, true);

  const rows: string[][] = [];
  let shown: readonly number[] = [];
  for (const { title, path, lazyImages } of PAGES) {
    const measured = new Map(tools.map((tool) => [tool, [] as Measured[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const tool of rotated(tools, round)) {
        measured.get(tool)?.push(await measure(tool, site.origin + path, lazyImages));
      }
      report(`full-page: ${title}: round ${round + 1} of ${rounds}`);
    }
    const [ours = []] = measured.values();
    for (const [{ name }, results] of measured) rows.push([`${title}: ${name}`, ...cells(results, ours)]);
    shown = [...shown, ...ours.flatMap(({ lazyShown }) => lazyShown ?? [])];
  }
  print(formatTable(['page: tool', 'window s', 'full page s', 'capstan/it', 'height px', 'lazy shown'], rows));
  return [atLeast('share of the lazy images that a full page shows, least of all rounds', Math.min(...shown), 1)];
}

async function measure({ capture }: Tool, url: string, lazyImages: number): Promise<Measured> {
  const startedAt = performance.now();
  await capture(url, false);
  const windowAt = performance.now();
  const image = await capture(url, true);
  const fullPageMs = performance.now() - windowAt;
  const png = await pixelsOf(image);
  const lazyShown = lazyImages === 0 ? undefined : countOf(png, LAZY_COLOUR) / (lazyImages * LAZY_PIXELS);
  return { windowMs: windowAt - startedAt, fullPageMs, height: png.height, lazyShown };
}

/** Medians of a tool's rounds. `capstan/it` is the median of the ratios of full-page times in each round. */
function cells(results: readonly Measured[], ours: readonly Measured[]): readonly string[] {
  const ratios = results.map(({ fullPageMs }, round) => (ours[round]?.fullPageMs ?? Number.NaN) / fullPageMs);
  const lazyShown = results.flatMap((result) => result.lazyShown ?? []);
  return [
    seconds(results.map(({ windowMs }) => windowMs)),
    seconds(results.map(({ fullPageMs }) => fullPageMs)),
    median(ratios).toFixed(2),
    String(median(results.map(({ height }) => height))),
    lazyShown.length === 0 ? '' : percent(median(lazyShown)),
  ];
}

const seconds = (milliseconds: readonly number[]) => (median(milliseconds) / 1000).toFixed(2);
const percent = (share: number) => `${Math.round(share * 100)} %`;
