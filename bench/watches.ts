import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../src/storage/ports/database.ts';
import { nextDue } from '../src/watches/next-due.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import { openDatabase, seedWatches } from '../test/watches/seeded-watches.ts';
import { AT_ONCE, type Runner, type Seen, startRunner } from '../test/watches/two-runners.ts';
import type { BenchOptions } from './support/bench.ts';
import { residentKiB } from './support/process-tree.ts';
import { median, percentile } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

const DUE = 10_000;
const MINUTE_MS = 60_000;
const ALL = 100_000;
const FEW = 100;
/** Number of watches that are due when a process begins to run those of a service. */
const SOME = 10_000;
/** Time for which a process runs the watches of a large service, in milliseconds. */
const RUNNING_MS = 25_000;
const MAX_GROWTH_MIB = 16;
const KEYS = Array.from({ length: 10 }, (_, at) => `key-${at}`);

/** 10,000 watches that are due within a minute, with a stub in place of captures; one of two processes is killed. */
export function watches(options: BenchOptions): Promise<readonly Finding[]> {
  return inEach(options, (name, place) => dispatched(name, place('due'), options.print));
}

/** Times and memory of a service with 100,000 watches, with a stub in place of captures. */
export function manyWatches(options: BenchOptions): Promise<readonly Finding[]> {
  return inEach(options, (name, place) => large(name, place, options.print));
}

/** Measures with each database. `place`: the URL or path of a new database with a name. */
async function inEach(
  { report }: BenchOptions,
  measure: (name: string, place: (of: string) => string) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const missing = await whyNoMongo();
  if (missing !== undefined) report(`without MongoDB: ${missing}`);
  const mongo = missing === undefined ? await startMongo() : undefined;
  const directory = await makeDirectory();
  const findings: Finding[] = [];
  try {
    const databases = [
      { name: 'SQLite', place: (of: string) => join(directory, `${of}.db`) },
      ...(mongo === undefined ? [] : [{ name: 'MongoDB', place: (of: string) => mongo.url + of }]),
    ];
    for (const { name, place } of databases) {
      findings.push(...(await measure(name, place)));
    }
    return findings;
  } finally {
    await mongo?.remove();
  }
}

/** Two processes run 10,000 watches in the minute in which each is due once; one of them is killed after half of it. */
async function dispatched(name: string, place: string, print: BenchOptions['print']): Promise<readonly Finding[]> {
  const every = MINUTE_MS;
  const now = Date.now();
  const dueAt = (id: number) => nextDue(id, { every }, now) ?? now;
  await seedWatches(place, { count: DUE, every: '1m', hosts: DUE / 5, dueAt });
  const seen: Seen = { begun: [], told: [] };
  const runners = [startRunner(place, seen), startRunner(place, seen)];
  const [first, second] = runners;
  try {
    // The first watch is due after half an interval, the last one after one and a half.
    await delay(now + every - Date.now());
    await first?.kill();
    // Leases of the killed process last for half a minute.
    await delay(now + 1.75 * every - Date.now());
    await second?.kill();
  } finally {
    await Promise.all(runners.map((runner) => runner.kill()));
  }

  const told = new Set(seen.told.map(({ id, due }) => `${id} ${due}`));
  const missed = ids(DUE).filter((id) => !told.has(`${id} ${dueAt(id)}`)).length;
  const twice = seen.told.length - told.size;
  const firsts = new Map(seen.begun.toReversed().map(({ id, at }) => [id, at - dueAt(id)]));
  const late = [...firsts.values()];
  const inMinute = seen.begun.filter(({ at }) => at >= now + every / 2 && at < now + 1.5 * every);
  const perSecond = [...Map.groupBy(inMinute, ({ at }) => Math.floor((at - now) / 1000)).values()].map(
    (begun) => begun.length,
  );
  const row = [
    `${runners.map((runner) => runner.told).join(' + ')}`,
    String(missed),
    String(twice),
    `${Math.min(...perSecond)} / ${median(perSecond)} / ${Math.max(...perSecond)}`,
    `${percentile(late, 0.5).toFixed(0)} / ${percentile(late, 0.99).toFixed(0)} / ${Math.max(...late).toFixed(0)}`,
  ];
  const head = ['runs of the two', 'missed', 'told twice', 'begun a second: min/median/max', 'late, ms: p50/p99/max'];
  print(`${name}: ${DUE} watches due within a minute, one of two processes killed\n${formatTable(head, [row])}`);
  return [
    {
      what: `${name}: runs that were missed, or told twice beyond those under way when a process was killed`,
      figure: `${missed}, ${Math.max(0, twice - AT_ONCE)}`,
      target: '0, 0',
      met: missed === 0 && twice <= AT_ONCE,
    },
  ];
}

/** Times of the store with 100,000 watches, and memory of a process that runs them. */
async function large(
  name: string,
  place: (of: string) => string,
  print: BenchOptions['print'],
): Promise<readonly Finding[]> {
  const [few, some, all] = [place('few'), place('some'), place('all')];
  const now = Date.now();
  for (const [at, count] of [
    [few, FEW],
    [some, SOME],
    [all, ALL],
  ] as const) {
    await seedWatches(at, {
      count,
      every: '10m',
      hosts: Math.min(count, 10_000),
      keys: KEYS,
      label: (id) => [`label ${id % 1000}`],
      dueAt: (id) => nextDue(id, { every: 10 * MINUTE_MS }, now),
    });
  }
  const rows = [];
  for (const at of [few, all]) {
    const database = await openDatabase(at);
    rows.push(await timesOf(database, at === few ? FEW : ALL));
    await database.close();
  }
  const [ofFew = {}, ofAll = {}] = rows;
  print(
    `${name}: median milliseconds\n${formatTable(
      ['', `${FEW} watches`, `${ALL} watches`],
      Object.entries(ofAll).map(([what, ms]) => [what, (ofFew[what] ?? Number.NaN).toFixed(2), ms.toFixed(2)]),
    )}`,
  );
  // As many are due in both: all of the few, and those of one minute in ten.
  const memory = [await running(some, 20 * MINUTE_MS), await running(all, 6 * MINUTE_MS)];
  const [ofSomeMiB = Number.NaN, ofAllMiB = Number.NaN] = memory.map(({ mebibytes }) => mebibytes);
  print(
    `${name}: a process that runs them for ${RUNNING_MS / 1000} s, ${SOME} of which are due at its start\n${formatTable(
      ['watches', 'resident MiB', 'runs a second'],
      memory.map(({ mebibytes, runs }, at) => [String(at === 0 ? SOME : ALL), mebibytes.toFixed(0), runs.toFixed(0)]),
    )}`,
  );
  const growth = ofAllMiB - ofSomeMiB;
  return [
    {
      what: `${name}: memory of a process with ${ALL} watches, beyond that with ${SOME}`,
      figure: `${growth.toFixed(0)} MiB`,
      target: `${MAX_GROWTH_MIB} MiB`,
      met: growth <= MAX_GROWTH_MIB,
    },
  ];
}

async function timesOf({ watches }: Database, count: number): Promise<Record<string, number>> {
  const now = Date.now();
  const none = { now, exceptHosts: [], exceptKeys: [] };
  const page = { ofKey: undefined, label: undefined, after: count / 2, limit: 50 };
  const dueNow = ids(20).map((id) => Math.ceil((id * count) / 20));
  const found: Record<string, number> = {};
  const measure = async (what: string, work: (at: number) => Promise<unknown>, rounds = 20): Promise<void> => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      await work(round);
      times.push(performance.now() - begun);
    }
    found[what] = median(times);
  };
  await measure('search, none due', () => watches.take(['a'], none));
  await measure('search, all due, their keys busy', () =>
    watches.take(['a'], { ...none, now: now + 20 * MINUTE_MS, exceptKeys: KEYS }),
  );
  await measure('change', (at) =>
    watches.change(dueNow[at] ?? 0, ({ definition }) => ({
      ...{ host: `host${at}.test`, everyMs: 10 * MINUTE_MS, labels: [], definition },
      dueAt: now - 1,
    })),
  );
  const owners = ids(20).map(() => randomUUID());
  const taken: number[] = [];
  await measure('search, 20 due: lease one', async (at) => {
    const [watch] = await watches.take([owners[at] ?? ''], none);
    taken.push(watch?.id ?? 0);
  });
  await measure('store a run and end the lease', async (at) => {
    const [id, owner] = [taken[at] ?? 0, owners[at] ?? ''];
    await watches.put(id, owner, { dueAt: now - 1, body: '{}' });
    await watches.finish(id, owner, () => ({ dueAt: now + 10 * MINUTE_MS, plannedAt: now, progress: '{}', keep: 50 }));
  });
  await measure('list 50', () => watches.list(page));
  await measure('list 50 of a key', () => watches.list({ ...page, ofKey: KEYS[0] }));
  await measure('list 50 with a label', () => watches.list({ ...page, label: 'label 7' }));
  await measure('look for watches due too late', () => watches.hasten(now, () => null));
  await measure('add', (at) =>
    watches.add(
      {
        ...{ id: 1_000_000 + at, apiKeyName: 'key-0', host: 'a.test', everyMs: null, dueAt: null, labels: [] },
        ...{ definition: '{}', progress: '{}', isShared: true },
      },
      2 * ALL,
    ),
  );
  return found;
}

/** Runs the watches of a database with a clock that is ahead. */
async function running(place: string, ahead: number): Promise<{ readonly mebibytes: number; readonly runs: number }> {
  const seen: Seen = { begun: [], told: [] };
  const runner: Runner = startRunner(place, seen, { ahead });
  try {
    await delay(RUNNING_MS);
    return { mebibytes: residentKiB(runner.pid) / 1024, runs: runner.told / (RUNNING_MS / 1000) };
  } finally {
    await runner.kill();
  }
}

function ids(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}
