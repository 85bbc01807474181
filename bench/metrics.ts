import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import { interleavedRounds } from './support/rounds.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import type { Finding } from './support/table.ts';
import { ratioFinding, seriesTable } from './throughput.ts';

const MIN_SHARE = 0.98;
/** More often than Prometheus does by default, which is every 15 s or every minute. */
const SCRAPE_MS = 1000;

/** Captures per second of the service while its metrics are scraped, relative to a service that counts none. */
export async function metrics(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath } = options;
  const site = await startBenchSite();
  try {
    const name = 'without metrics';
    const nodeFlags = ['--import', join(import.meta.dirname, 'support/without-metrics.ts')];
    const series = await interleavedRounds(
      [
        serviceContender({ browserPath, scrapeMs: SCRAPE_MS }),
        { ...serviceContender({ browserPath, nodeFlags }), name },
      ],
      { ...options, urls: site.urls(options.captures) },
    );
    options.print(seriesTable(series));
    return [ratioFinding(series, name, MIN_SHARE)];
  } finally {
    await site.stop();
  }
}
