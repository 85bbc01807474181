import { MongoClient } from 'mongodb';
import type { Result } from '../../src/capture/result/result.ts';
import { collectionsOf, insertNew, noteHosts } from '../../src/storage/mongo/collections.ts';
import { documentOf, wordsOf } from '../../src/storage/mongo/documents.ts';
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

/** Writes directly, without waiting for the journal, like `fillSqlite`. */
export async function fillMongo(url: string, seeded: SeededResults, withWords: boolean): Promise<number> {
  const client = await new MongoClient(url, { writeConcern: { w: 1, j: false } }).connect();
  const collections = collectionsOf(client.db());
  let bytes = 0;
  try {
    for (const { results, textBytes } of batches(seeded, withWords)) {
      const documents = results.map(({ words: _, ...result }) => documentOf(result));
      await noteHosts(collections.hosts, documents);
      await insertNew(
        collections.words,
        results.flatMap(({ words, ...result }) => wordsOf(result, words)),
      );
      await insertNew(collections.results, documents);
      bytes += textBytes;
    }
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
