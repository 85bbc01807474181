import type { BenchOptions } from './support/bench.ts';
import { interleavedRounds } from './support/rounds.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import type { Finding } from './support/table.ts';
import { ratioFinding, seriesTable } from './throughput.ts';

/** Two runs of the same code differ by this share. */
const NOISE = 0.03;

/** Captures per second with default options, relative to another checkout of the service (`--before <folder>`). */
export async function before(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, checkout } = options;
  if (checkout === undefined) throw new Error('before takes --before <folder>: a checkout with its node_modules');
  const site = await startBenchSite();
  try {
    const name = `capstan of ${checkout}`;
    const findings: Finding[] = [];
    for (const pages of ['site', 'long'] as const) {
      const series = await interleavedRounds(
        [serviceContender({ browserPath }), { ...serviceContender({ browserPath, checkout }), name }],
        { ...options, urls: site.urls(options.captures, pages) },
      );
      options.print(`${pages}\n\n${seriesTable(series)}`);
      findings.push(ratioFinding(series, name, 1 - NOISE));
    }
    return findings;
  } finally {
    await site.stop();
  }
}
