import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import { driverContender } from './support/driver-contender.ts';
import { interleavedRounds, type Series } from './support/rounds.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import { median } from './support/statistics.ts';
import { atLeast, type Finding, formatTable } from './support/table.ts';

const CEILING = 'raw CDP over the pipe (ceiling)';
const AT_LOAD = "capstan, waitUntil: 'load'";
const PLAYWRIGHT = 'Playwright loop';
const PUPPETEER = 'puppeteer loop, fast PNG';
const PEERS = join(import.meta.dirname, 'peers');

/** The targets: captures a second of the service as a share or multiple of each loop's. */
const WINDOWS = { [CEILING]: 0.88, [PUPPETEER]: 1.2, [PLAYWRIGHT]: 1.6 };
/** The ceiling takes no full pages. */
const FULL_PAGES = { [PUPPETEER]: 1.2, [PLAYWRIGHT]: 1.8 };

/** The kinds of pages. */
const SETS = [
  { pages: 'site', title: 'Small, medium and heavy pages over HTTP', fullPage: false },
  { pages: 'http', title: 'Pages with 17 sub-resources on average over HTTP', fullPage: false },
  { pages: 'https', title: 'The same over HTTP/2 with TLS', fullPage: false },
  { pages: 'long', title: 'Long pages with up to 40 photographs, two of them in the window', fullPage: false },
  { pages: 'site', title: 'Full pages of small, medium and heavy pages over HTTP', fullPage: true },
  { pages: 'http', title: 'Full pages of pages with 17 sub-resources on average over HTTP', fullPage: true },
] as const;

/** Captures per second through the whole service, compared with the browser's ceiling, puppeteer, and Playwright. */
export async function throughput(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath } = options;
  const concurrency = Math.max(...options.concurrencies);
  const site = await startBenchSite();
  const findings: Finding[] = [];
  const withPuppeteer = existsSync(join(PEERS, 'node_modules'));
  if (!withPuppeteer)
    options.report('throughput: without puppeteer, which `npm ci --prefix bench/peers --ignore-scripts` installs');
  try {
    for (const { pages, title, fullPage } of SETS) {
      const loop = (name: string, module: string) =>
        driverContender(name, join(import.meta.dirname, module), { browserPath, concurrency, fullPage });
      const series = await interleavedRounds(
        [
          serviceContender({ browserPath, requested: { fullPage } }),
          // As the loops, which wait for `load` only.
          serviceContender({ browserPath, name: AT_LOAD, requested: { fullPage, waitUntil: 'load' } }),
          ...(fullPage ? [] : [loop(CEILING, 'ceiling.ts')]),
          loop(PLAYWRIGHT, 'playwright-loop.ts'),
          ...(withPuppeteer ? [loop(PUPPETEER, 'peers/puppeteer-fast.mjs')] : []),
        ],
        { ...options, urls: site.urls(options.captures, pages) },
      );
      options.print(`\n${title}\n\n${seriesTable(series)}`);
      for (const [name, least] of Object.entries(fullPage ? FULL_PAGES : WINDOWS)) {
        if (!series.some((one) => one.name === name)) continue;
        const finding = ratioFinding(series, name, least);
        findings.push({ ...finding, what: `${title}: ${finding.what}` });
      }
    }
    return findings;
  } finally {
    await site.stop();
  }
}

/** One row per contender; the others are compared with the first. */
export function seriesTable(series: readonly Series[]): string {
  const rows = series.map(({ name, concurrency, rounds }) => {
    const rates = rounds.map(({ perSecond }) => perSecond);
    const captures = rounds.reduce((sum, { work }) => sum + work.captures, 0);
    const imageBytes = rounds.reduce((sum, { work }) => sum + work.imageBytes, 0);
    return [
      name,
      String(concurrency),
      median(rates).toFixed(2),
      `${Math.min(...rates).toFixed(2)} to ${Math.max(...rates).toFixed(2)}`,
      ratioToFirst(series, name).toFixed(2),
      median(rounds.map(({ cpuSecondsPerCapture }) => cpuSecondsPerCapture)).toFixed(3),
      Math.max(...rounds.map(({ peakMiB }) => peakMiB)).toFixed(0),
      (imageBytes / captures / 1024).toFixed(0),
    ];
  });
  const head = ['contender', 'at once', 'cap/s', 'range', 'capstan/it', 'CPU s/cap', 'peak MiB', 'KiB/image'];
  return formatTable(head, rows);
}

/** Median over the rounds of the ratio between the first contender's rate and the named one's. */
function ratioToFirst(series: readonly Series[], name: string): number {
  const first = series[0]?.rounds ?? [];
  const other = series.find((one) => one.name === name)?.rounds ?? [];
  return median(first.map(({ perSecond }, round) => perSecond / (other[round]?.perSecond ?? Number.NaN)));
}

/** The first contender's rate as a share of the named contender's. */
export function ratioFinding(series: readonly Series[], name: string, least: number): Finding {
  return atLeast(`captures/s, of ${name}`, ratioToFirst(series, name), least);
}
