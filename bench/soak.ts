import { chmod, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { executableFinder } from '../src/actors/launching/executable.ts';
import type { CapstanEvent } from '../src/capture/events.ts';
import { createRandom } from '../test/faults/random.ts';
import { problemsOf } from '../test/faults/stored-captures.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import { setup as useOneDirectory } from '../test/support/one-temporary-directory.ts';
import { startService } from '../test/support/service.ts';
import {
  above,
  familyProcesses,
  heapMiB,
  type ObservedService,
  type Reading,
  read,
  watchTimers,
} from './soak/base-line.ts';
import { observable } from './soak/census.ts';
import { Ledger, oneClient } from './soak/clients.ts';
import { anyFaults, lockSqlite } from './soak/faults.ts';
import { runProcessRounds } from './soak/process-rounds.ts';
import { within } from './soak/time-limit.ts';
import { startBenchSite } from './support/site.ts';
import { atMost, exactly, type Finding, formatFindings } from './support/table.ts';

/*
 * npm run soak [-- [--seconds n] [--seed n] [--mongo]]
 *
 * Half of the time: waves of clients with good, slow, broken, hanging and forbidden targets; some clients disconnect,
 * browsers are killed, and the database becomes unavailable. After each wave every count must be back at the base line,
 * which is taken after a first wave without faults; at the end every accepted capture must be accounted for.
 * The other half: rounds with the service as a process of its own, which end with `kill -9`. Prints the comparison and
 * exits with 1 when a target is missed. With --mongo the database is MongoDB (MONGOMS_SYSTEM_BINARY).
 */

const CLIENTS = 24;
const MAX_CONCURRENT = 6;
/** Small enough that some captures are refused. */
const MAX_QUEUE = 12;
/** Small enough that browsers are retired during a soak. */
const RETIRE_AFTER = 60;
/** Time limit for the counts to settle after a wave: a hung browser is detected after 10 s. */
const SETTLE_MS = 60_000;
/** Time limit for a wave; every capture in it ends within 30 s. */
const WAVE_MS = 120_000;
/** Counts that must be 0 even if the base line after the first wave is higher. */
const NONE: Reading = {
  'captures inside': 0,
  'records in the outbox': 0,
  'staged files': 0,
  'browser contexts': 0,
  pages: 0,
  sockets: 0,
};
/** Allows for compiled code and filled caches; a leak of 10 KiB a capture exceeds it. */
const HEAP_SLACK_MIB = 16;
/** MongoDB's driver keeps connections, and timers for them, up to the size of its pool. */
const MONGO_SLACK: Reading = { sockets: 20, 'file descriptors': 20, timers: 40 };
const REAP_MS = 10_000;
/** A page size larger than the number of captures in a soak of hours. */
const EVERYTHING = 1_000_000;
/** Browsers hang only in soaks of at least this length, in seconds: each hang costs more than 10 s. */
const LONG_S = 120;
/** Failures of the service itself, which no target, client or database may cause. */
const OWN_FAULTS = ['internal', 'storage_full', 'invalid_request'];

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    mongo: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds ?? 600);
const random = createRandom(Number(values.seed ?? Math.floor(Math.random() * 2 ** 32)));
console.log(`soak of ${seconds} s, --seed ${random.seed}`);

const missing = values.mongo ? await whyNoMongo() : undefined;
if (missing !== undefined) throw new Error(`--mongo: ${missing}`);

const timers = watchTimers();
const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') warnings.push(`${name}: ${message}`);
});
process.once('exit', await useOneDirectory());
const temporary = tmpdir();
const browser = await executableFinder(undefined)();
if ('missing' in browser) throw new Error(browser.missing);
Object.assign(process.env, browser.env);
const browserPath = join(temporary, 'chromium');
await writeFile(browserPath, observable(browser.path));
await chmod(browserPath, 0o755);

const site = await startBenchSite();
const mongo = values.mongo ? await startMongo() : undefined;
const running = await startService({
  browserPath,
  maxConcurrent: MAX_CONCURRENT,
  maxQueue: MAX_QUEUE,
  retireAfter: RETIRE_AFTER,
  ...(mongo === undefined ? {} : { dbPath: null, mongoUrl: `${mongo.url}soak` }),
});
const { service, baseUrl, directory } = running;
const ends = new Map<CapstanEvent['type'], number>();
let recorded = 0;
const families = new Set(service.stats().pool.browsers.map(({ pid }) => pid));
service.events$.subscribe((event) => {
  ends.set(event.type, (ends.get(event.type) ?? 0) + 1);
  if (event.type === 'browser.launched') families.add(event.pid);
  if ('result' in event && event.result !== null) recorded += 1;
});
const dataDir = join(directory, 'data');
const observed: ObservedService = { service, dataDir, temporary, families, timers };
const surroundings = {
  browsers: () => service.stats().pool.browsers.map(({ pid }) => pid),
  stopDatabase: () =>
    mongo === undefined ? lockSqlite(join(directory, 'results.db')) : mongo.stop().then(() => mongo.start),
};
const ledger = new Ledger();
const clients = () => Array.from({ length: CLIENTS }, () => oneClient(baseUrl, site.origin, random, ledger));
const wave = (what: string) => within(what, WAVE_MS, Promise.all(clients()));

await wave('the first wave');
const base = await within('the first wave: settling', SETTLE_MS, firstSettled());
const baseHeap = await heapMiB();
const slack = mongo === undefined ? {} : MONGO_SLACK;
const highest: Record<string, number> = { ...base };
const deviations: string[] = [];
let largestHeap = baseHeap;
let waves = 0;
for (const until = performance.now() + seconds * 500; performance.now() < until || waves === 0; ) {
  const startedAt = performance.now();
  const [faults] = await Promise.all([anyFaults(surroundings, random, seconds >= LONG_S), wave(`wave ${waves + 1}`)]);
  const overAt = performance.now();
  const { now, last } = await settledFrom(base);
  const timing = `ended after ${inSeconds(overAt - startedAt)}, settled ${inSeconds(performance.now() - overAt)} later${last}`;
  const heap = await heapMiB();
  waves += 1;
  for (const [name, value] of Object.entries(now)) highest[name] = Math.max(highest[name] ?? 0, value);
  largestHeap = Math.max(largestHeap, heap);
  const wrong = above(base, now, slack);
  deviations.push(...wrong.map((text) => `wave ${waves}: ${text}`));
  console.log(
    `wave ${waves}: ${faults}; ${timing}; ${heap.toFixed(1)} MiB, ${residentMiB()} MiB resident${wrong.length > 0 ? `; ${wrong.join('; ')}` : ''}`,
  );
}

const { captures, pool } = service.stats();
const records = await service.results.page({ by: 'all' }, EVERYTHING);
const images = await service.artifacts.list(EVERYTHING);
const problems = await problemsOf(baseUrl, dataDir, ledger.records);
await running.stop();
await site[Symbol.asyncDispose]();
// A killed process disappears only when the kernel has reaped it.
for (const until = performance.now() + REAP_MS; (await familyProcesses(families)) > 0 && performance.now() < until; )
  await delay(100);
const processesLeft = await familyProcesses(families);
const resident = residentMiB();
const rounds = await runProcessRounds({
  seconds: seconds / 2,
  random,
  mongoUrl: mongo === undefined ? undefined : `${mongo.url}soak-rounds`,
});
await mongo?.remove();
const directoriesLeft = (await readdir(temporary)).filter((name) => name.startsWith('capstan-'));

const exits = captures.stored + captures.failed + captures.timed_out + captures.cancelled + captures.rejected;
const ownFaults = OWN_FAULTS.reduce((sum, code) => sum + (ledger.codes.get(code) ?? 0), 0);
const findings: readonly Finding[] = [
  ...Object.entries(base).map(([name, value]) => ({
    what: `after each of ${waves} waves: ${name}`,
    figure: String(highest[name]),
    target: `<= ${value + (slack[name] ?? 0)}`,
    met: !deviations.some((text) => text.includes(`: ${name}: `)),
  })),
  atMost('after each wave: heap after a full collection', largestHeap, baseHeap + HEAP_SLACK_MIB, { unit: ' MiB' }),
  exactly('captures accepted = stored + failed + timed out + cancelled + rejected', captures.accepted, exits),
  exactly('captures stored = images on disk', captures.stored, images.length),
  exactly('captures that ended with a record = records in the database', recorded, records.length),
  exactly(`problems in the ${ledger.records.length} answered records and their images`, problems.length, 0),
  exactly('answers that are a failure of the service itself', ownFaults, 0),
  exactly('broken connections', ledger.problems.length, 0),
  exactly('browser processes left after the stop', processesLeft, 0),
  exactly('directories left after the stop', directoriesLeft.length, 0),
  exactly('runtime warnings', warnings.length, 0),
  ...rounds.findings,
];
console.log(
  `\n${ledger.requests} requests, ${ledger.hungUp} disconnected; ${pool.crashes} browsers crashed, ${pool.launches} launched; ${resident} MiB resident`,
);
console.log(`answers: ${[...ledger.codes].map(([code, count]) => `${code || 'stored'} ${count}`).join(', ')}`);
console.log(`events: ${[...ends].map(([type, count]) => `${type} ${count}`).join(', ')}\n`);
console.log(formatFindings(findings));
const said = [deviations, problems, ledger.problems, directoriesLeft, warnings, rounds.problems].flat();
for (const text of said) console.log(text);
if (findings.some(({ met }) => !met)) process.exitCode = 1;

/** Resident memory of this process, in which the service runs. */
function residentMiB(): string {
  return (process.memoryUsage().rss / 2 ** 20).toFixed(0);
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Returns the base line: the first reading without captures in progress that is equal to the one a second before. */
async function firstSettled(): Promise<Reading> {
  let before = await read(observed);
  for (;;) {
    await delay(1000);
    const now = await read(observed);
    if (isDeepStrictEqual(now, before) && now['captures inside'] === 0) return { ...now, ...NONE };
    before = now;
  }
}

/**
 * Returns, as `now`, the first reading with no count above the base line, or the last reading within the time limit;
 * and, as `last`, the counts that were above the base line in the previous reading.
 */
async function settledFrom(line: Reading): Promise<{ readonly now: Reading; readonly last: string }> {
  let last = '';
  for (const until = performance.now() + SETTLE_MS; ; await delay(200)) {
    const now = await read(observed);
    const wrong = above(line, now, slack);
    if (wrong.length === 0 || performance.now() > until) return { now, last };
    last = ` (last ${wrong.join(', ')})`;
  }
}
