import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMongo } from '../src/storage/mongo/open.ts';
import type { Database } from '../src/storage/ports/database.ts';
import { openSqlite } from '../src/storage/sqlite/open.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import type { BenchOptions } from './support/bench.ts';
import { fillMongo, fillSqlite } from './support/large-store.ts';
import { timesOf, timesTable } from './support/query-times.ts';
import { idInTheMiddle, type SeededResults, seededResults } from './support/seeded-results.ts';
import { percentile } from './support/statistics.ts';
import { queriesByHost, queriesWithConditions, type StoreQuery } from './support/store-queries.ts';
import { atMost, type Finding } from './support/table.ts';
import { wordsInMongo, wordsInSqlite } from './support/words-bench.ts';

const LIMIT = 100;
const QUERIES_OF_EACH_KIND = 100;
/** Records in MongoDB: inserting a million takes an hour where it is emulated. */
const MONGO_RESULTS = 100_000;
/** Time limits for the p99 of all kinds, in milliseconds. */
const BY_HOST_MS = 20;
const WITH_CONDITIONS_MS = 50;

/** Times a page of 100 results on a large store, by host and with conditions, in SQLite and in MongoDB. */
export async function stores({ storedResults, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const findings: Finding[] = [];
  try {
    const path = join(directory, 'results.db');
    const seeded = seededResults(storedResults);
    fillSqlite(path, seeded);
    findings.push(...(await timed('SQLite', await openSqlite({ path }), seeded, storedResults, print)));
    findings.push(...(await wordsInSqlite(directory, storedResults, print)));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const missing = await whyNoMongo();
  if (missing !== undefined) {
    report(`stores: MongoDB is left out: ${missing}`);
    return findings;
  }
  const server = await startMongo();
  try {
    const count = Math.min(storedResults, MONGO_RESULTS);
    const seeded = seededResults(count);
    // Opened first: opening makes the indexes.
    const database = await openMongo({ url: server.url });
    await fillMongo(server.url, seeded);
    findings.push(...(await timed('MongoDB', database, seeded, count, print)));
    findings.push(...(await wordsInMongo(`${server.url}words`, count, print)));
  } finally {
    await server.remove();
  }
  return findings;
}

async function timed(
  name: string,
  database: Database,
  seeded: SeededResults,
  count: number,
  print: BenchOptions['print'],
): Promise<readonly Finding[]> {
  const store = database.results;
  try {
    const [newest] = await store.page({ by: 'all' }, 1);
    const [id] = await store.oldest(1, Number.MAX_SAFE_INTEGER, idInTheMiddle(count));
    const middle = id === undefined ? undefined : await store.get(id);
    if (newest === undefined || middle === undefined) throw new Error(`${name} has no results`);
    const after = { probedAt: middle.probed_at, id: middle.id };
    const newestMs = Date.parse(newest.probed_at);
    return [
      await timeQueries('by host', BY_HOST_MS, queriesByHost(seeded, after, QUERIES_OF_EACH_KIND)),
      await timeQueries(
        'with conditions',
        WITH_CONDITIONS_MS,
        queriesWithConditions(seeded, newestMs, QUERIES_OF_EACH_KIND),
      ),
    ];
  } finally {
    await database.close();
  }

  async function timeQueries(what: string, limitMs: number, queries: readonly StoreQuery[]): Promise<Finding> {
    const times = await timesOf(queries, ({ filter, after }) => store.page(filter, LIMIT, after));
    const all = [...times.values()].flat();
    print(timesTable(`${name}, ${count} results: ${what}`, [...times, ['all', all]]));
    const title = `${name}, ${count} results: a page of ${LIMIT} ${what}, p99`;
    return atMost(title, percentile(all, 0.99), limitMs, { digits: 1, unit: ' ms' });
  }
}
