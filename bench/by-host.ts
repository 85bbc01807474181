import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openMongo as openMongoDatabase } from '../src/storage/mongo/open.ts';
import type { Database } from '../src/storage/ports/database.ts';
import type { Keyset, ResultStore } from '../src/storage/ports/result-store.ts';
import { openSqlite as openSqliteDatabase } from '../src/storage/sqlite/open.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import { idInTheMiddle, pick, randomFrom, type SeededResults, seededResults } from './seeded-results.ts';

/*
 * Times queries by host on a large store: milliseconds for a page of 100, by kind of query and overall, compared with a
 * store of 10,000 results. Half of the pages are the newest results, the others begin in the middle of the store.
 *
 * node bench/by-host.ts [--rows 1000000] [--store sqlite|mongo|both] [--queries 100]
 */

const LIMIT = 100;
const SMALL = 10_000;
const INSERTED_TOGETHER = 5120;

interface Query {
  readonly kind: string;
  readonly host: string;
  /** Where the page begins; undefined: at the newest result. */
  readonly after?: Keyset;
}

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

interface BenchedStore {
  readonly database: Database;
  remove(): Promise<void>;
}

const OPENERS: Readonly<Record<string, () => Promise<BenchedStore>>> = { sqlite: openSqlite, mongo: openMongo };

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'both' },
    queries: { type: 'string', default: '100' },
  },
});
const rows = Number(values.rows);
const names = values.store === 'both' ? Object.keys(OPENERS) : [values.store];

for (const name of names) {
  const missing = name === 'mongo' ? await whyNoMongo() : undefined;
  if (missing !== undefined) {
    console.log(`\n${name}: left out, ${missing}`);
    continue;
  }
  const small = await measure(name, SMALL);
  const great = await measure(name, rows);
  console.log(`\n${name}: a page of ${LIMIT} by host, ms, on ${rows} results (ratio to ${SMALL})\n`);
  console.table(
    Object.fromEntries(
      [...great].map(([kind, { p50, p99 }]) => [
        kind,
        { p50: rounded(p50), p99: rounded(p99), 'p50 ratio': rounded(p50 / (small.get(kind)?.p50 ?? Number.NaN)) },
      ]),
    ),
  );
}

async function measure(name: string, count: number): Promise<ReadonlyMap<string, Spread>> {
  const open = OPENERS[name];
  if (open === undefined) throw new Error(`--store is ${name}; it takes sqlite, mongo or both`);
  const { database, remove } = await open();
  const store = database.results;
  try {
    const seeded = seededResults(count);
    await fill(store, seeded, count, name);
    const [middle] = await store.oldest(1, Number.MAX_SAFE_INTEGER, idInTheMiddle(count));
    const at = middle === undefined ? undefined : await store.get(middle);
    if (at === undefined) throw new Error('there is no result in the middle');
    const after = { probedAt: at.probed_at, id: at.id };
    const first = queriesOn(seeded, Number(values.queries));
    const later = first.map(({ kind, host }) => ({ kind: `${kind}, half way`, host, after }));
    return await timeQueries(
      store,
      first.flatMap((query, nth) => [query, later[nth] ?? query]),
    );
  } finally {
    await database.close();
    await remove();
  }
}

async function fill(store: ResultStore, seeded: SeededResults, count: number, name: string): Promise<void> {
  const began = performance.now();
  let together: Promise<void>[] = [];
  for (const result of seeded.results()) {
    together.push(store.insert(result));
    if (together.length < INSERTED_TOGETHER) continue;
    await Promise.all(together);
    together = [];
  }
  await Promise.all(together);
  console.error(`${name}: ${count} results written in ${Math.round((performance.now() - began) / 1000)} s`);
}

/** Returns a mix of queries: sites, subdomains, prefixes of names down to one letter, and hosts without results. */
function queriesOn({ sites }: SeededResults, each: number): readonly Query[] {
  const random = randomFrom(7);
  const site = (from: number, to: number) => pick(sites.slice(from, Math.max(to, from + 1)), random);
  const kinds: Readonly<Record<string, () => string>> = {
    'hot site': () => site(0, 20),
    'warm site': () => site(100, 1000),
    'cold site': () => site(Math.floor(sites.length / 2), sites.length),
    subdomain: () => `www.${site(0, 1000)}`,
    'three letters': () => site(0, sites.length).slice(0, 3),
    'two letters': () => site(0, sites.length).slice(0, 2),
    'one letter': () => pick([...'abcdefghijklmnopqrstuvwxyz'], random),
    'top level': () => pick(['com', 'co.uk', 'de', 'jp', 'org', 'www', 'www.', 'blog.'], random),
    'no such host': () => `${site(0, sites.length)}x.invalid`,
  };
  const queries = Object.entries(kinds).flatMap(([kind, host]) =>
    Array.from({ length: each }, () => ({ kind, host: host() })),
  );
  // Shuffled, so that no kind of query benefits from caches that only queries of its kind have filled.
  return queries
    .map((query) => ({ query, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ query }) => query);
}

async function timeQueries(store: ResultStore, queries: readonly Query[]): Promise<ReadonlyMap<string, Spread>> {
  for (const { host } of queries.slice(0, 100)) await store.page({ by: 'host', host }, LIMIT);
  const times = new Map<string, number[]>();
  const note = (kind: string, ms: number) => times.set(kind, [...(times.get(kind) ?? []), ms]);
  for (const { kind, host, after } of queries) {
    const began = performance.now();
    await store.page({ by: 'host', host }, LIMIT, after);
    const ms = performance.now() - began;
    note(kind, ms);
    note('all', ms);
    if (ms > 50) console.error(`${kind} ${host}: ${rounded(ms)} ms`);
  }
  return new Map([...times].map(([kind, ms]) => [kind, spread(ms)]));
}

function spread(ms: readonly number[]): Spread {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

async function openSqlite(): Promise<BenchedStore> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const database = await openSqliteDatabase({ path: join(directory, 'results.db') });
  return { database, remove: () => rm(directory, { recursive: true, force: true }) };
}

async function openMongo(): Promise<BenchedStore> {
  const server = await startMongo();
  return { database: await openMongoDatabase({ url: server.url }), remove: () => server.remove() };
}
