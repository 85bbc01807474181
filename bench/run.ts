import { parseArgs } from 'node:util';
import { executableFinder } from '../src/actors/launching/executable.ts';
import { setup as useOneDirectory } from '../test/support/one-temporary-directory.ts';
import { before } from './before.ts';
import { bounds } from './bounds.ts';
import { clusterKill, clusterMongo, clusterS3 } from './cluster-kill.ts';
import { comparison } from './comparison.ts';
import { extraction } from './extraction.ts';
import { fullPage } from './full-page.ts';
import { pages } from './pages.ts';
import { peers } from './peers.ts';
import { scan } from './scan.ts';
import { stores } from './stores.ts';
import { storing } from './storing.ts';
import type { BenchOptions } from './support/bench.ts';
import { type Finding, formatFindings } from './support/table.ts';
import { throughput } from './throughput.ts';

/*
 * npm run bench [-- [bench...] [--quick] [--rounds n] [--captures n] [--at-once n,n] [--browser-path file] [--before
 * folder] [--pages folder] [--results n] [--on sqlite,mongo,cluster] [--only fields,lists,pages]]
 *
 * Prints the table of each bench, then every figure that has a target. Exits with 1 when a target is missed. Compare
 * ratios, which are medians of interleaved rounds; rates on a busy machine mean little.
 */

/** The benches of `npm run bench`. */
const OWN = ['throughput', 'full-page', 'pages', 'stores'];
const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<readonly Finding[]>>> = {
  throughput,
  before,
  'full-page': fullPage,
  pages,
  stores: async (options) => [...(await stores(options)), ...(await storing(options))],
  storing,
  peers,
  comparison,
  extraction,
  bounds,
  scan,
  'cluster-kill': clusterKill,
  'cluster-mongo': clusterMongo,
  'cluster-s3': clusterS3,
};

process.once('exit', await useOneDirectory());

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    captures: { type: 'string' },
    'at-once': { type: 'string' },
    'browser-path': { type: 'string' },
    before: { type: 'string' },
    pages: { type: 'string' },
    results: { type: 'string' },
    on: { type: 'string' },
    only: { type: 'string', default: 'fields,lists,pages' },
    quick: { type: 'boolean', default: false },
  },
});

const browser = await executableFinder(values['browser-path'])();
if ('missing' in browser) throw new Error(browser.missing);
// Every measured process starts this browser and inherits the environment that it needs.
Object.assign(process.env, browser.env);

const options: BenchOptions = {
  browserPath: browser.path,
  rounds: Number(values.rounds ?? (values.quick ? 3 : 7)),
  captures: Number(values.captures ?? (values.quick ? 24 : 60)),
  storedResults: Number(values.results ?? (values.quick ? 100_000 : 1_000_000)),
  storedInMongo: Number(values.results ?? 100_000),
  checkout: values.before,
  pagesFolder: values.pages,
  on: values.on?.split(','),
  only: values.only.split(','),
  concurrencies: (values['at-once'] ?? (values.quick ? '3,4' : '2,3,4,6')).split(',').map(Number),
  print: (text) => console.log(`\n${text}\n`),
  report: (line) => console.error(line),
};

const findings: Finding[] = [];
for (const name of positionals.length > 0 ? positionals : OWN) {
  const bench = BENCHES[name];
  if (bench === undefined) throw new Error(`no bench ${name}: there are ${Object.keys(BENCHES).join(', ')}`);
  findings.push(...(await bench(options)));
}
if (findings.length > 0) options.print(formatFindings(findings));
if (findings.some(({ met }) => !met)) process.exitCode = 1;
