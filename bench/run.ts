import { parseArgs } from 'node:util';
import { executableFinder } from '../src/actors/executable.ts';
import { setup as useOneDirectory } from '../test/support/one-temporary-directory.ts';
import { archives } from './archives.ts';
import { before } from './before.ts';
import { cluster, clusterDispatch, clusterRoles, clusterScaling } from './cluster.ts';
import { clusterKill, clusterMongo } from './cluster-kill.ts';
import { clusterOverload } from './cluster-overload.ts';
import { clusterTimes } from './cluster-times.ts';
import { comparison, comparisonTimes } from './comparison.ts';
import { deadline } from './deadline.ts';
import { dispatch } from './dispatch.ts';
import { dnsStarvation } from './dns-starvation.ts';
import { documentation } from './documentation.ts';
import { events } from './events.ts';
import { extraction } from './extraction.ts';
import { fullPage } from './full-page.ts';
import { hostile } from './hostile.ts';
import { metrics } from './metrics.ts';
import { outputs } from './outputs.ts';
import { pages } from './pages.ts';
import { peers } from './peers.ts';
import { profile } from './profile.ts';
import { refusal } from './refusal.ts';
import { sharedPages } from './shared-pages.ts';
import { simulate } from './simulate.ts';
import { stability } from './stability.ts';
import { stores } from './stores.ts';
import type { BenchOptions } from './support/bench.ts';
import { type Finding, formatFindings } from './support/table.ts';
import { throughput } from './throughput.ts';
import { verdicts } from './verdicts.ts';
import { manyWatches, watches } from './watches.ts';
import { webInterface } from './web-interface.ts';

/*
 * npm run bench [-- [bench...] [--quick] [--rounds n] [--captures n] [--at-once n,n] [--browser-path file] [--before
 * folder] [--pages folder] [--save]]
 *
 * Prints the table of each bench, then every figure that has a target. Exits with 1 when a target is missed. Compare
 * ratios, which are medians of interleaved rounds; rates on a busy machine mean little.
 */

/** The benches of `npm run bench`. */
const OWN = [
  'throughput',
  'refusal',
  'dispatch',
  'stores',
  'events',
  'deadline',
  'dns-starvation',
  'shared-pages',
  'full-page',
  'pages',
  'documentation',
  'web-interface',
  'metrics',
];
const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<readonly Finding[]>>> = {
  archives,
  throughput,
  refusal,
  dispatch,
  stores,
  events,
  deadline,
  'dns-starvation': dnsStarvation,
  'shared-pages': sharedPages,
  'full-page': fullPage,
  pages,
  documentation,
  'web-interface': webInterface,
  metrics,
  before,
  profile,
  cluster,
  'cluster-dispatch': clusterDispatch,
  'cluster-roles': clusterRoles,
  'cluster-scaling': clusterScaling,
  'cluster-kill': clusterKill,
  'cluster-mongo': clusterMongo,
  simulate,
  'cluster-overload': clusterOverload,
  'cluster-times': clusterTimes,
  peers,
  verdicts,
  watches,
  'many-watches': manyWatches,
  extraction,
  hostile,
  outputs,
  comparison,
  'comparison-times': comparisonTimes,
  stability,
};

process.once('exit', useOneDirectory());

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    captures: { type: 'string' },
    'at-once': { type: 'string' },
    'browser-path': { type: 'string' },
    before: { type: 'string' },
    pages: { type: 'string' },
    quick: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
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
  storedResults: values.quick ? 100_000 : 1_000_000,
  checkout: values.before,
  pagesFolder: values.pages,
  save: values.save,
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
