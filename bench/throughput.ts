import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import { driverContender } from './support/driver-contender.ts';
import { interleavedRounds, type Series } from './support/rounds.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import { median } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

const CEILING = 'raw CDP over the pipe (ceiling)';
const PLAYWRIGHT = 'Playwright loop';

/** Captures per second through the whole service, compared with the browser's ceiling and with Playwright. */
export async function throughput(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath } = options;
  const concurrency = Math.max(...options.concurrencies);
  const site = await startBenchSite();
  try {
    const series = await interleavedRounds(
      [
        serviceContender({ browserPath }),
        driverContender(CEILING, join(import.meta.dirname, 'ceiling.ts'), { browserPath, concurrency }),
        driverContender(PLAYWRIGHT, join(import.meta.dirname, 'playwright-loop.ts'), { browserPath, concurrency }),
      ],
      { ...options, urls: site.urls(options.captures) },
    );
    options.print(seriesTable(series));
    return [ratioFinding(series, CEILING, 0.85), ratioFinding(series, PLAYWRIGHT, 1.5)];
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
  const ratio = ratioToFirst(series, name);
  return { what: `captures/s, of ${name}`, figure: ratio.toFixed(2), target: `>= ${least}`, met: ratio >= least };
}
