import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';

/** Returns the bytes of SQLite's index of terms, which has those of words, and others. */
export function indexBytesOfSqlite(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const index = "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE 'record\\_terms%' ESCAPE '\\'";
    return Number(db.prepare(index).get()?.bytes);
  } finally {
    db.close();
  }
}

/** Returns the bytes of MongoDB's index of words, without its free blocks, which are used again. */
export async function indexBytesOfMongo(url: string): Promise<number> {
  const client = await new MongoClient(url).connect();
  try {
    const words = client.db().collection('words');
    const { storageStats } = (await words.aggregate([{ $collStats: { storageStats: {} } }]).next()) ?? {};
    const free = Number(storageStats?.indexDetails?.by_word?.['block-manager']?.['file bytes available for reuse']);
    return Number(storageStats?.indexSizes?.by_word) - free;
  } finally {
    await client.close();
  }
}
