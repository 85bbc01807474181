import type { BenchOptions } from './support/bench.ts';
import { interleavedRounds } from './support/rounds.ts';
import { serviceContender } from './support/service-contender.ts';
import { type BenchSite, startBenchSite } from './support/site.ts';
import type { Finding } from './support/table.ts';
import { ratioFinding, seriesTable } from './throughput.ts';

/** Two runs of the same code differ by this share. */
const NOISE = 0.03;

interface PageSet {
  readonly title: string;
  readonly fullPage: boolean;
  urls(site: BenchSite, count: number): readonly string[];
}

const repeated = (path: string) => (site: BenchSite, count: number) =>
  Array.from({ length: count }, () => site.origin + path);

const SETS: readonly PageSet[] = [
  { title: 'site', fullPage: false, urls: (site, count) => site.urls(count, 'site') },
  { title: 'long', fullPage: false, urls: (site, count) => site.urls(count, 'long') },
  { title: 'site, full page', fullPage: true, urls: (site, count) => site.urls(count, 'site') },
  {
    title: 'up to 12 photographs, full page',
    fullPage: true,
    // Earlier versions cut the others.
    urls: (site, count) =>
      site
        .urls(2 * count, 'long')
        .filter((url) => !url.endsWith('-40'))
        .slice(0, count),
  },
  { title: 'lazy gallery, full page', fullPage: true, urls: repeated('/late/gallery?count=20') },
  { title: '10,000 px, full page', fullPage: true, urls: repeated('/tall?px=10000') },
];

/** Captures per second, relative to another checkout of the service (`--before <folder>`). */
export async function before(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, checkout } = options;
  if (checkout === undefined) throw new Error('before takes --before <folder>: a checkout with its node_modules');
  const site = await startBenchSite();
  try {
    const name = `capstan of ${checkout}`;
    const findings: Finding[] = [];
    for (const { title, fullPage, urls } of SETS) {
      const requested = { fullPage };
      const series = await interleavedRounds(
        [
          serviceContender({ browserPath, requested }),
          { ...serviceContender({ browserPath, checkout, requested }), name },
        ],
        { ...options, urls: urls(site, options.captures) },
      );
      options.print(`${title}\n\n${seriesTable(series)}`);
      const finding = ratioFinding(series, name, 1 - NOISE);
      findings.push({ ...finding, what: `${title}: ${finding.what}` });
    }
    return findings;
  } finally {
    await site.stop();
  }
}
