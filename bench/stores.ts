import { join } from 'node:path';
import { CapstanError } from '../src/capture/errors.ts';
import { openMongo } from '../src/storage/mongo/open.ts';
import type { Database } from '../src/storage/ports/database.ts';
import type { ResultStore } from '../src/storage/ports/result-store.ts';
import { openSqlite } from '../src/storage/sqlite/open.ts';
import { startMongo, whyNoMongo } from '../test/support/mongo.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { indexBytesOfMongo, indexBytesOfSqlite } from './support/index-bytes.ts';
import { fillMongo, fillSqlite } from './support/large-store.ts';
import { timesOf, timesTable } from './support/query-times.ts';
import { idInTheMiddle, type SeededResults, seededResults } from './support/seeded-results.ts';
import { percentile } from './support/statistics.ts';
import * as queries from './support/store-queries.ts';
import { atMost, type Finding } from './support/table.ts';

/** A page by host and with conditions, and one by words, as the web interface asks for it. */
const LIMIT = 100;
const LIMIT_WITH_WORDS = 50;
/** Time limits for the p99 of all kinds, in milliseconds. */
const BY_HOST_MS = 20;
const WITH_CONDITIONS_MS = 50;
const BY_WORDS_MS = 50;
/** Bytes of the index of words, for each byte of their texts. */
const MAX_INDEX_SHARE = 0.6;
const NEWEST = 'the newest results';

/** Times pages of a large store, by host, with conditions and by words, in SQLite and in MongoDB (`--on`). */
export async function stores(options: BenchOptions): Promise<readonly Finding[]> {
  const { on = ['sqlite', 'mongo'], report } = options;
  const findings = on.includes('sqlite') ? await inSqlite(options) : [];
  const missing = on.includes('mongo') ? await whyNoMongo() : 'it is not asked for';
  if (missing === undefined) return [...findings, ...(await inMongo(options))];
  report(`stores: MongoDB is left out: ${missing}`);
  return findings;
}

async function inSqlite({ storedResults, print }: BenchOptions): Promise<readonly Finding[]> {
  const directory = await makeDirectory();
  const seeded = seededResults(storedResults);
  const timed = new Timed('SQLite', seeded, print);
  const [plain, words] = [join(directory, 'results.db'), join(directory, 'words.db')];
  fillSqlite(plain, seeded, false);
  const findings = await timed.plain(await openSqlite({ path: plain }));
  const textBytes = fillSqlite(words, seeded, true);
  const share = (indexBytesOfSqlite(words) - indexBytesOfSqlite(plain)) / textBytes;
  return [...findings, await timed.byWords(await openSqlite({ path: words })), timed.index(share)];
}

async function inMongo({ storedInMongo, print }: BenchOptions): Promise<readonly Finding[]> {
  await using running = new AsyncDisposableStack();
  const server = running.adopt(await startMongo(), (started) => started.remove());
  const seeded = seededResults(storedInMongo);
  const timed = new Timed('MongoDB', seeded, print);
  const [url, words] = [`${server.url}results`, `${server.url}words`];
  // Opened first: opening makes the schema.
  const plain = await openMongo({ url });
  await fillMongo(url, seeded, false);
  const findings = await timed.plain(plain);
  const withWords = await openMongo({ url: words });
  const textBytes = await fillMongo(words, seeded, true);
  const share = (await indexBytesOfMongo(words)) / textBytes;
  return [...findings, await timed.byWords(withWords), timed.index(share)];
}

/** Times queries of one store, prints a table of each part, and closes the databases. */
class Timed {
  readonly #what: string;
  readonly #seeded: SeededResults;
  readonly #print: BenchOptions['print'];

  constructor(name: string, seeded: SeededResults, print: BenchOptions['print']) {
    this.#what = `${name}, ${seeded.count} results`;
    this.#seeded = seeded;
    this.#print = print;
  }

  async plain({ results: store, close }: Database): Promise<readonly Finding[]> {
    const [id] = await store.oldest(1, Number.MAX_SAFE_INTEGER, idInTheMiddle(this.#seeded.count));
    const middle = id === undefined ? undefined : await store.get(id);
    if (middle === undefined) throw new Error(`${this.#what}: none is there`);
    const byHost = queries.queriesByHost(this.#seeded, { probedAt: middle.probed_at, id: middle.id });
    const withConditions = queries.queriesWithConditions(this.#seeded, await newestMs(store));
    const timed = async (what: string, limitMs: number, asked: readonly queries.StoreQuery[]) => {
      const times = await timesOf(asked, ({ filter, after }) => store.page(filter, LIMIT, after));
      const all = [...times.values()].flat();
      this.#print(timesTable(`${this.#what}: ${what}`, [...times, ['all', all]]));
      const title = `${this.#what}: a page of ${LIMIT} ${what}, p99`;
      return atMost(title, percentile(all, 0.99), limitMs, { digits: 1, unit: ' ms' });
    };
    const findings = [
      await timed('by host', BY_HOST_MS, byHost),
      await timed('with conditions', WITH_CONDITIONS_MS, withConditions),
    ];
    await close();
    return findings;
  }

  async byWords({ results: store, close }: Database): Promise<Finding> {
    const asked = queries.queriesByWords(this.#seeded, await newestMs(store));
    // Each beside a page by one index and without words: a slow server is slow with both.
    const newest: queries.StoreQuery = { kind: NEWEST, filter: { by: 'all' } };
    const page = ({ filter }: queries.StoreQuery) => readWithWords(store, filter);
    const measured = await timesOf(
      asked.flatMap((query) => [query, newest]),
      page,
    );
    const newestTimes = measured.get(NEWEST) ?? [];
    const times = [...measured].filter(([kind]) => kind !== NEWEST);
    const all = times.flatMap(([, ms]) => ms);
    const others = await timesOf(queries.otherQueriesByWords(), page);
    await close();
    this.#print(timesTable(`${this.#what}: by words`, [...times, ['all', all], ...others, [NEWEST, newestTimes]]));
    const title = `${this.#what}: a page of ${LIMIT_WITH_WORDS} by two words, p99`;
    return atMost(title, percentile(all, 0.99), BY_WORDS_MS, { digits: 1, unit: ' ms' });
  }

  index(share: number): Finding {
    return atMost(`${this.#what}: index of the words, in bytes of their texts`, share, MAX_INDEX_SHARE);
  }
}

async function newestMs(store: ResultStore): Promise<number> {
  const [newest] = await store.page({ by: 'all' }, 1);
  return Date.parse(newest?.probed_at ?? '');
}

async function readWithWords(store: ResultStore, filter: queries.StoreQuery['filter']): Promise<void> {
  try {
    await store.wordsOf((await store.page(filter, LIMIT_WITH_WORDS)).map(({ id }) => id));
  } catch (error) {
    // Random words are often on one page, and seldom next to each other: the refusal is timed, too.
    if (!(error instanceof CapstanError && error.code === 'phrase_too_frequent')) throw error;
  }
}
