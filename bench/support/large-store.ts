import { MongoClient } from 'mongodb';
import type { Result } from '../../src/capture/result/result.ts';
import { collectionsOf, ensureIndexes, insertNew, noteHosts } from '../../src/storage/mongo/collections.ts';
import { documentOf, type ResultDocument, wordsOf } from '../../src/storage/mongo/documents.ts';
import { resultTable } from '../../src/storage/sqlite/result-table.ts';
import { openDatabase } from '../../src/storage/sqlite/schema.ts';
import { createRandom } from '../../test/faults/random.ts';
import { packedText, randomText } from './page-texts.ts';
import type { SeededResults } from './seeded-results.ts';

/* Seeded results in batches, written to SQLite or MongoDB. */

const INSERTED_TOGETHER = 5000;

interface Batch {
  readonly results: readonly (Result & { readonly words: string | undefined })[];
  /** Bytes of the texts that were packed as words. */
  readonly textBytes: number;
}

/**
 * Writes directly, without the store's thread and without syncs, so that a million results take only minutes. Returns
 * the bytes of the texts, with which each stored page is given words.
 */
export function fillSqlite(path: string, seeded: SeededResults, withWords: boolean): number {
  const db = openDatabase(path);
  db.exec('PRAGMA synchronous = OFF');
  const table = resultTable(db);
  let bytes = 0;
  for (const { results, textBytes } of batches(seeded, withWords)) {
    table.insert(results.map((result) => ({ ...result, evidence: null })));
    bytes += textBytes;
  }
  db.close();
  return bytes;
}

/**
 * Writes directly, without waiting for the journal, like `fillSqlite`. Indexes are built when all documents are there:
 * a page has hundreds of entries, and this takes a tenth of the time.
 */
export async function fillMongo(url: string, seeded: SeededResults, withWords: boolean): Promise<number> {
  const client = await new MongoClient(url, { writeConcern: { w: 1, j: false } }).connect();
  const collections = collectionsOf(client.db());
  const newest = new Map<string, ResultDocument>();
  let bytes = 0;
  try {
    for (const each of [collections.results, collections.words]) await each.dropIndexes();
    for (const { results, textBytes } of batches(seeded, withWords)) {
      const documents = results.map(({ words: _, ...result }) => documentOf(result));
      for (const document of documents) newest.set(document.host, document);
      const words = results.flatMap(({ words: packed, ...result }) => wordsOf(result, packed));
      await Promise.all([insertNew(collections.words, words), insertNew(collections.results, documents)]);
      bytes += textBytes;
    }
    await noteHosts(collections.hosts, [...newest.values()]);
    await ensureIndexes(collections);
  } finally {
    await client.close();
  }
  return bytes;
}

function* batches(seeded: SeededResults, withWords: boolean): Generator<Batch> {
  const random = createRandom(11);
  for (let made = 0; made < seeded.count; made += INSERTED_TOGETHER) {
    let textBytes = 0;
    const results = seeded.results(made, Math.min(made + INSERTED_TOGETHER, seeded.count)).map((result) => {
      if (result.failed || !withWords) return { ...result, words: undefined };
      const text = randomText(random);
      textBytes += Buffer.byteLength(text);
      return { ...result, words: packedText(text) };
    });
    yield { results, textBytes };
    if (made % 100_000 === 0 && made > 0) console.error(`${made} results`);
  }
}
