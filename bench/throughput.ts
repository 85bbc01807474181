import type { BenchOptions } from './support/bench.ts';
import { compare } from './support/compare.ts';
import { driverContender } from './support/driver-contender.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import type { Finding } from './support/table.ts';
import { hasPeers, WITHOUT_PUPPETEER } from './support/tools.ts';

const CEILING = 'raw CDP over the pipe (ceiling)';
const AT_LOAD = "capstan, waitUntil: 'load'";
const PLAYWRIGHT = 'Playwright loop';
const PUPPETEER = 'puppeteer loop, fast PNG';

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
  await using site = await startBenchSite();
  const findings: Finding[] = [];
  if (!hasPeers) options.report(`throughput: ${WITHOUT_PUPPETEER}`);
  for (const { pages, title, fullPage } of SETS) {
    const loop = (name: string, module: string) =>
      driverContender(name, module, { browserPath, concurrency, fullPage, fast: true });
    const contenders = [
      serviceContender({ browserPath, requested: { fullPage } }),
      // As the loops, which wait for `load` only.
      serviceContender({ browserPath, name: AT_LOAD, requested: { fullPage, waitUntil: 'load' } }),
      ...(fullPage ? [] : [loop(CEILING, 'ceiling.ts')]),
      loop(PLAYWRIGHT, 'playwright-loop.ts'),
      ...(hasPeers ? [loop(PUPPETEER, 'peers/puppeteer.mjs')] : []),
    ];
    const urls = site.urls(options.captures, pages);
    findings.push(...(await compare(title, contenders, fullPage ? FULL_PAGES : WINDOWS, { ...options, urls })));
  }
  return findings;
}
