import type { BenchOptions } from './support/bench.ts';
import { compare } from './support/compare.ts';
import { serviceContender } from './support/service-contender.ts';
import { startBenchSite } from './support/site.ts';
import type { Finding } from './support/table.ts';

/** Two runs of the same code differ by this share. */
const NOISE = 0.03;

/** Captures per second, relative to another checkout of the service (`--before <folder>`). */
export async function before(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, checkout, captures } = options;
  if (checkout === undefined) throw new Error('before takes --before <folder>: a checkout with its node_modules');
  await using site = await startBenchSite();
  const repeated = (path: string) => Array.from({ length: captures }, () => site.origin + path);
  // Earlier versions cut pages with 40 photographs.
  const photographs = site.urls(2 * captures, 'long').filter((url) => !url.endsWith('-40'));
  const sets = [
    { title: 'site', fullPage: false, urls: site.urls(captures, 'site') },
    { title: 'long', fullPage: false, urls: site.urls(captures, 'long') },
    { title: 'site, full page', fullPage: true, urls: site.urls(captures, 'site') },
    { title: 'up to 12 photographs, full page', fullPage: true, urls: photographs.slice(0, captures) },
    { title: 'lazy gallery, full page', fullPage: true, urls: repeated('/late/gallery?count=20') },
    { title: '10,000 px, full page', fullPage: true, urls: repeated('/tall?px=10000') },
  ];
  const name = `capstan of ${checkout}`;
  const findings: Finding[] = [];
  for (const { title, fullPage, urls } of sets) {
    const requested = { fullPage };
    const contenders = [
      serviceContender({ browserPath, requested }),
      serviceContender({ browserPath, checkout, requested, name }),
    ];
    findings.push(...(await compare(title, contenders, { [name]: 1 - NOISE }, { ...options, urls })));
  }
  return findings;
}
