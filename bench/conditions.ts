import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { Result } from '../src/capture/result.ts';
import type { Database } from '../src/storage/database.ts';
import { openMongo } from '../src/storage/mongo/open.ts';
import type { ResultFilter, ResultStore } from '../src/storage/result-store.ts';
import { openSqlite } from '../src/storage/sqlite/open.ts';
import { resultTable } from '../src/storage/sqlite/result-table.ts';
import { rowOf } from '../src/storage/sqlite/results.ts';
import { openDatabase } from '../src/storage/sqlite/schema.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import { pick, randomFrom, type SeededResults, seededResults } from './seeded-results.ts';

/*
 * Times lists with conditions (status, outcome, time, text; of all results, a host, a URL) on a large store:
 * milliseconds for a page of 100, by kind of query and overall.
 *
 * node bench/conditions.ts [--rows 1000000] [--store sqlite|mongo] [--queries 100] [--file results.db]
 *
 * `--file` keeps the SQLite file; a later run with the same file uses its results.
 */

const LIMIT = 100;
const INSERTED_TOGETHER = 5000;
/** Each title has three of these words, and one word that 1 in 10,000 titles has. Half of the titles have `price`. */
const WORDS = 'price list of the new product page about contact help store guide news report index'.split(' ');

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'sqlite' },
    queries: { type: 'string', default: '100' },
    file: { type: 'string' },
  },
});
const rows = Number(values.rows);
const seeded = seededResults(rows);

const missing = values.store === 'mongo' ? await whyNoMongo() : undefined;
if (missing !== undefined) console.log(`\n${values.store}: left out, ${missing}`);
else await (values.store === 'mongo' ? benchMongo() : benchSqlite());

async function benchSqlite(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const path = values.file ?? join(directory, 'results.db');
  try {
    if (!existsSync(path)) fillSqlite(path);
    await bench('sqlite', await openSqlite({ path }));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function benchMongo(): Promise<void> {
  const server = await startMongo();
  try {
    const database = await openMongo({ url: server.url });
    await fill(database.results);
    await bench('mongo', database);
  } finally {
    await server.remove();
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

/** Writes directly, without the store's thread and without syncs, so that a million results take only minutes. */
function fillSqlite(path: string): void {
  const db = openDatabase(path);
  db.exec('PRAGMA synchronous = OFF');
  const { handlers } = resultTable(db);
  inBatches((results) => void handlers.insert({ rows: results.map((result) => rowOf(result, null)) }, Date.now()));
  db.close();
}

async function fill(store: ResultStore): Promise<void> {
  let writing = Promise.resolve<unknown>(undefined);
  inBatches((results) => {
    writing = writing.then(() => Promise.all(results.map((result) => store.insert(result))));
  });
  await writing;
}

function inBatches(write: (results: readonly Result[]) => void): void {
  const random = randomFrom(3);
  let batch: Result[] = [];
  let written = 0;
  for (const result of seeded.results()) {
    batch.push(varied(result, random));
    if (batch.length < INSERTED_TOGETHER) continue;
    write(batch);
    written += batch.length;
    if (written % 100_000 === 0) console.error(`${written} results`);
    batch = [];
  }
  write(batch);
}

function varied(result: Result, random: () => number): Result {
  const word = () => WORDS[Math.floor(WORDS.length * random() ** 2)] ?? '';
  const title = `${word()} ${word()} ${word()} ${rareWord(random)}`;
  const chance = random();
  const failed = chance < 0.03;
  const status = failed ? 0 : chance < 0.08 ? 404 : chance < 0.09 ? 500 : chance < 0.0901 ? 418 : 200;
  const code = random() < 0.3 ? 'capture_timeout' : 'target_unreachable';
  return { ...result, title, response_code: status, failed, failed_code: failed ? code : '' };
}

function rareWord(random: () => number): string {
  return `model${Math.floor(random() * 10_000)}`;
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
