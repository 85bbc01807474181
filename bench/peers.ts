import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import { driverContender } from './support/driver-contender.ts';
import { interleavedRounds } from './support/rounds.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import { seriesTable } from './throughput.ts';

const FOLDER = join(import.meta.dirname, 'peers');

/** Modules of `peers/`, at their default settings and at the fastest settings that do the same work. */
const PEERS: readonly (readonly [name: string, module: string])[] = [
  ['puppeteer-cluster', 'puppeteer-cluster.mjs'],
  ['puppeteer-cluster, fast PNG', 'puppeteer-cluster-fast.mjs'],
  ['crawlee', 'crawlee.mjs'],
  ['crawlee, no scaling, fast PNG', 'crawlee-fast.mjs'],
  ['browserless', 'browserless.mjs'],
  ['browserless, load only, fast PNG', 'browserless-fast.mjs'],
];

/** Compares the whole service with libraries for the same job, each in its own process. The figures have no targets. */
export async function peers(options: BenchOptions): Promise<readonly []> {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    throw new Error('the peers are not installed: npm run bench:peers installs them and measures');
  }
  const { browserPath } = options;
  const concurrency = Math.max(...options.concurrencies);
  const site = await startBenchSite();
  try {
    const contenders = PEERS.map(([name, module]) =>
      driverContender(name, join(FOLDER, module), { browserPath, concurrency }),
    );
    const series = await interleavedRounds([serviceContender({ browserPath }), ...contenders], {
      ...options,
      urls: site.urls(options.captures),
    });
    options.print(seriesTable(series));
    return [];
  } finally {
    await site.stop();
  }
}
