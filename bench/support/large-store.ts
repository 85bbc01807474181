import { MongoClient } from 'mongodb';
import type { Result } from '../../src/capture/result/result.ts';
import { collectionsOf, insertNew, noteHosts } from '../../src/storage/mongo/collections.ts';
import { documentOf, wordsOf } from '../../src/storage/mongo/documents.ts';
import { resultTable } from '../../src/storage/sqlite/result-table.ts';
import { openDatabase } from '../../src/storage/sqlite/schema.ts';
import { packedText, randomText } from './page-texts.ts';
import { randomFrom, type SeededResults } from './seeded-results.ts';

/* Seeded results with words, statuses and outcomes, in batches, written to SQLite or MongoDB. */

const INSERTED_TOGETHER = 5000;
/** Each title has three of these words, and one word that 1 in 10,000 titles has. Half of the titles have `price`. */
export const WORDS = 'price list of the new product page about contact help store guide news report index'.split(' ');

/** Gives each stored page a text, and counts the bytes of all. */
export class Texts {
  readonly #random = randomFrom(11);
  bytes = 0;

  wordsOf({ failed }: Result): string | undefined {
    if (failed) return undefined;
    const text = randomText(this.#random);
    this.bytes += Buffer.byteLength(text);
    return packedText(text);
  }
}

/** Writes directly, without the store's thread and without syncs, so that a million results take only minutes. */
export function fillSqlite(path: string, seeded: SeededResults, texts?: Texts): void {
  const db = openDatabase(path);
  db.exec('PRAGMA synchronous = OFF');
  const table = resultTable(db);
  for (const results of variedBatches(seeded)) {
    table.insert(results.map((result) => ({ ...result, evidence: null, words: texts?.wordsOf(result) })));
  }
  db.close();
}

/** Writes directly, without waiting for the journal, like `fillSqlite`. */
export async function fillMongo(url: string, seeded: SeededResults, texts?: Texts): Promise<void> {
  const client = await new MongoClient(url, { writeConcern: { w: 1, j: false } }).connect();
  const collections = collectionsOf(client.db());
  try {
    for (const results of variedBatches(seeded)) {
      const documents = results.map((result) => documentOf(result));
      await noteHosts(collections.hosts, documents);
      await insertNew(
        collections.words,
        results.flatMap((result) => wordsOf(result, texts?.wordsOf(result))),
      );
      await insertNew(collections.results, documents);
    }
  } finally {
    await client.close();
  }
}

function* variedBatches(seeded: SeededResults): Generator<readonly Result[]> {
  const random = randomFrom(3);
  let batch: Result[] = [];
  let made = 0;
  for (const result of seeded.results()) {
    batch.push(varied(result, random));
    if (batch.length < INSERTED_TOGETHER) continue;
    yield batch;
    made += batch.length;
    if (made % 100_000 === 0) console.error(`${made} results`);
    batch = [];
  }
  if (batch.length > 0) yield batch;
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

export function rareWord(random: () => number): string {
  return `model${Math.floor(random() * 10_000)}`;
}
