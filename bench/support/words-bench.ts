import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { CapstanError } from '../../src/capture/errors.ts';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { fillMongo, fillSqlite, Texts } from './large-store.ts';
import { timesOf, timesTable } from './query-times.ts';
import { seededResults } from './seeded-results.ts';
import { percentile } from './statistics.ts';
import { otherQueriesByWords, queriesByWords, type StoreQuery } from './store-queries.ts';
import { atMost, type Finding } from './table.ts';

/* A page of 50 results by words of their pages, as the web interface asks for it: the results, and their words. */

const LIMIT = 50;
const QUERIES_OF_EACH_KIND = 100;
const MAX_P99_MS = 50;
const MAX_INDEX_SHARE = 0.6;

type Print = (text: string) => void;

export async function wordsInSqlite(directory: string, count: number, print: Print): Promise<readonly Finding[]> {
  const path = join(directory, 'words.db');
  const texts = new Texts();
  const seeded = seededResults(count);
  fillSqlite(path, seeded, texts);
  const plain = join(directory, 'plain.db');
  fillSqlite(plain, seeded);
  const index = bytesOf(path) - bytesOf(plain);
  const { results, close } = await openSqlite({ path });
  try {
    return [await timed('SQLite', results, count, print), shareOf('SQLite', count, index / texts.bytes)];
  } finally {
    await close();
  }
}

export async function wordsInMongo(url: string, count: number, print: Print): Promise<readonly Finding[]> {
  const { results, close } = await openMongo({ url });
  const client = await new MongoClient(url).connect();
  const texts = new Texts();
  try {
    await fillMongo(url, seededResults(count), texts);
    const measured = client
      .db()
      .collection('words')
      .aggregate([{ $collStats: { storageStats: {} } }]);
    const { storageStats } = (await measured.next()) ?? {};
    // Blocks that the file has free are used again.
    const free = Number(storageStats?.indexDetails?.by_word?.['block-manager']?.['file bytes available for reuse']);
    const index = Number(storageStats?.indexSizes?.by_word) - free;
    return [await timed('MongoDB', results, count, print), shareOf('MongoDB', count, index / texts.bytes)];
  } finally {
    await client.close();
    await close();
  }
}

/** Bytes of the index of terms. */
function bytesOf(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(
      db.prepare("SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE 'record\\_terms%' ESCAPE '\\'").get()?.bytes,
    );
  } finally {
    db.close();
  }
}

function shareOf(name: string, count: number, share: number): Finding {
  return atMost(`${name}, ${count} results: index of the words, in bytes of their texts`, share, MAX_INDEX_SHARE);
}

async function timed(name: string, store: ResultStore, count: number, print: Print): Promise<Finding> {
  const [newest] = await store.page({ by: 'all' }, 1);
  const queries = queriesByWords(seededResults(count), Date.parse(newest?.probed_at ?? ''), QUERIES_OF_EACH_KIND);
  const measured = await timesOf(besideNewest(queries), pageWithWords(store));
  const newestMs = measured.get(NEWEST) ?? [];
  const times = [...measured].filter(([kind]) => kind !== NEWEST);
  const others = await timesOf(otherQueriesByWords(QUERIES_OF_EACH_KIND), pageWithWords(store));
  const all = times.flatMap(([, ms]) => ms);
  const rows = [...times, ['all', all] as const, ...others, [NEWEST, newestMs] as const];
  print(timesTable(`${name}, ${count} results: by words`, rows));
  const p99 = percentile(all, 0.99);
  const ratio = percentile(all, 0.5) / percentile(newestMs, 0.5);
  return {
    what: `${name}, ${count} results: a page of ${LIMIT} by two words, p99`,
    figure: `${p99.toFixed(1)} ms; the median is ${ratio.toFixed(1)} times that of the newest results`,
    target: `${MAX_P99_MS} ms`,
    met: p99 <= MAX_P99_MS,
  };
}

const NEWEST = 'the newest results';

/** Each query beside a page by one index and without words: a slow server is slow with both. */
function besideNewest(queries: readonly StoreQuery[]): readonly StoreQuery[] {
  return queries.flatMap((query): readonly StoreQuery[] => [query, { kind: NEWEST, filter: { by: 'all' } }]);
}

/** Returns a function that reads a page as the web interface does. */
const pageWithWords =
  (store: ResultStore) =>
  async ({ filter }: StoreQuery): Promise<void> => {
    try {
      await store.wordsOf((await store.page(filter, LIMIT)).map(({ id }) => id));
    } catch (error) {
      // Random words are often on one page, and seldom next to each other: the refusal is timed, too.
      if (!(error instanceof CapstanError && error.code === 'phrase_too_frequent')) throw error;
    }
  };
