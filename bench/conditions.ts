import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { collectionsOf, insertNew, noteHosts } from '../src/storage/mongo/collections.ts';
import { documentOf } from '../src/storage/mongo/documents.ts';
import { openMongo } from '../src/storage/mongo/open.ts';
import type { Database } from '../src/storage/ports/database.ts';
import type { ResultFilter, ResultStore } from '../src/storage/ports/result-store.ts';
import { openSqlite } from '../src/storage/sqlite/open.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import { pick, randomFrom, type SeededResults, seededResults } from './seeded-results.ts';
import { fillSqlite, rareWord, variedBatches, WORDS } from './support/large-store.ts';

/*
 * Times lists with conditions (status, outcome, time, text; of all results, a host, a URL) on a large store:
 * milliseconds for a page of 100, by kind of query and overall.
 *
 * node bench/conditions.ts [--rows 1000000] [--store sqlite|mongo] [--queries 100] [--file results.db] [--url mongodb://...]
 *
 * `--file` keeps the SQLite file, and `--url` names a MongoDB server and database. A later run with the same one uses
 * its results.
 */

const LIMIT = 100;
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'sqlite' },
    queries: { type: 'string', default: '100' },
    file: { type: 'string' },
    url: { type: 'string' },
  },
});
const rows = Number(values.rows);
const seeded = seededResults(rows);

const missing = values.store === 'mongo' && values.url === undefined ? await whyNoMongo() : undefined;
if (missing !== undefined) console.log(`\n${values.store}: left out, ${missing}`);
else await (values.store === 'mongo' ? benchMongo() : benchSqlite());

async function benchSqlite(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const path = values.file ?? join(directory, 'results.db');
  try {
    if (!existsSync(path)) fillSqlite(path, seeded);
    await bench('sqlite', await openSqlite({ path }));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function benchMongo(): Promise<void> {
  const server = values.url === undefined ? await startMongo() : undefined;
  const url = server?.url ?? values.url ?? '';
  try {
    const database = await openMongo({ url });
    const isEmpty = (await database.results.page({ by: 'all' }, 1)).length === 0;
    if (isEmpty) await fillMongo(url);
    await bench('mongo', database);
  } finally {
    await server?.remove();
  }
}

async function bench(name: string, database: Database): Promise<void> {
  try {
    const [newest] = await database.results.page({ by: 'all' }, 1);
    const queries = queriesOn(seeded, Date.parse(newest?.probed_at ?? ''), Number(values.queries));
    const times = await timeQueries(database.results, queries);
    console.log(`\n${name}: a page of ${LIMIT} with conditions, ms, on ${rows} results\n`);
    console.table(Object.fromEntries([...times].map(([kind, ms]) => [kind, spread(ms)])));
  } finally {
    await database.close();
  }
}

/** Writes directly, without waiting for the journal, like `fillSqlite`. */
async function fillMongo(url: string): Promise<void> {
  const client = await new MongoClient(url, { writeConcern: { w: 1, j: false } }).connect();
  const collections = collectionsOf(client.db());
  try {
    for (const results of variedBatches(seeded)) {
      const documents = results.map(documentOf);
      await noteHosts(collections.hosts, documents);
      await insertNew(collections.results, documents);
    }
  } finally {
    await client.close();
  }
}

interface Query {
  readonly kind: string;
  readonly filter: ResultFilter;
}

function queriesOn({ sites }: SeededResults, newestMs: number, each: number): readonly Query[] {
  const random = randomFrom(7);
  const word = () => pick(WORDS, random);
  const hot = () => sites[Math.floor(random() * 20)] ?? '';
  const span = () => {
    const from = newestMs - random() * 3 * 86_400_000;
    return { from: new Date(from).toISOString(), to: new Date(from + 3_600_000).toISOString() };
  };
  const kinds: Readonly<Record<string, () => ResultFilter>> = {
    'status of most': () => ({ by: 'all', where: { status: '200' } }),
    'class of few': () => ({ by: 'all', where: { status: pick(['4xx', '5xx'], random) } }),
    'rare status': () => ({ by: 'all', where: { status: '418' } }),
    'no such status': () => ({ by: 'all', where: { status: '599' } }),
    outcome: () => ({ by: 'all', where: { outcome: pick(['stored', 'failed', 'timed_out'] as const, random) } }),
    'one hour': () => ({ by: 'all', where: span() }),
    'frequent word': () => ({ by: 'all', where: { text: word() } }),
    'rare word': () => ({ by: 'all', where: { text: rareWord(random) } }),
    'two words': () => ({ by: 'all', where: { text: `${word()} ${word()}` } }),
    'frequent and rare word': () => ({ by: 'all', where: { text: `${word()} ${rareWord(random)}` } }),
    'frequent word, rare status': () => ({ by: 'all', where: { text: word(), status: '418' } }),
    'word, outcome, one hour': () => ({ by: 'all', where: { text: word(), outcome: 'failed', ...span() } }),
    'hot host, class of few': () => ({ by: 'host', host: hot(), where: { status: '4xx' } }),
    'hot host, word': () => ({ by: 'host', host: hot(), where: { text: word() } }),
    'one letter, outcome': () => ({ by: 'host', host: pick([...'abcdefg'], random), where: { outcome: 'failed' } }),
    'three letters, outcome': () => ({ by: 'host', host: hot().slice(0, 3), where: { outcome: 'timed_out' } }),
    'subdomain, outcome': () => ({ by: 'host', host: `www.${hot()[0]}`, where: { outcome: 'failed' } }),
    'top level, class of few': () => ({
      by: 'host',
      host: pick(['com', 'co.uk', 'de', 'www.', 'blog.'], random),
      where: { status: pick(['4xx', '5xx'], random) },
    }),
    'one letter, rare word': () => ({
      by: 'host',
      host: pick([...'abcdefg'], random),
      where: { text: rareWord(random) },
    }),
    'one letter, frequent word': () => ({ by: 'host', host: pick([...'abcdefg'], random), where: { text: word() } }),
    'nine letters, outcome': () => ({ by: 'host', host: `www.${hot().slice(0, 5)}`, where: { outcome: 'failed' } }),
    'URL, outcome': () => ({
      by: 'url',
      url: `https://${hot()}/${Math.floor(random() * 50)}/page?q=${Math.floor(random() * 1000)}`,
      where: { outcome: 'stored' },
    }),
  };
  const queries = Object.entries(kinds).flatMap(([kind, filter]) =>
    Array.from({ length: each }, () => ({ kind, filter: filter() })),
  );
  return queries
    .map((query) => ({ query, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ query }) => query);
}

async function timeQueries(store: ResultStore, queries: readonly Query[]): Promise<ReadonlyMap<string, number[]>> {
  for (const { filter } of queries.slice(0, 100)) await store.page(filter, LIMIT);
  const times = new Map<string, number[]>([['all', []]]);
  for (const { kind, filter } of queries) {
    const began = performance.now();
    await store.page(filter, LIMIT);
    const ms = performance.now() - began;
    times.set(kind, [...(times.get(kind) ?? []), ms]);
    times.get('all')?.push(ms);
  }
  return times;
}

function spread(ms: readonly number[]): { readonly p50: number; readonly p99: number; readonly most: number } {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0) * 100) / 100;
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
}
