import type { BenchOptions } from './support/bench.ts';
import { compare } from './support/compare.ts';
import { driverContender } from './support/driver-contender.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import type { Finding } from './support/table.ts';
import { hasPeers } from './support/tools.ts';

/** Modules of `peers/`, measured at their default settings and at the fastest settings that do the same work. */
const PEERS = ['puppeteer-cluster', 'browserless'];

/** Compares the whole service with libraries for the same job, each in its own process. The figures have no targets. */
export async function peers(options: BenchOptions): Promise<readonly Finding[]> {
  if (!hasPeers) throw new Error('the peers are not installed: npm run bench:peers installs them and measures');
  const { browserPath } = options;
  const concurrency = Math.max(...options.concurrencies);
  await using site = await startBenchSite();
  const contenders = PEERS.flatMap((name) =>
    [false, true].map((fast) =>
      driverContender(fast ? `${name}, fast` : name, `peers/${name}.mjs`, { browserPath, concurrency, fast }),
    ),
  );
  const urls = site.urls(options.captures);
  return await compare('Libraries', [serviceContender({ browserPath }), ...contenders], {}, { ...options, urls });
}
