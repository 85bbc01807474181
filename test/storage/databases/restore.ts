import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BSON, type Db, type Document, type IndexDescription } from 'mongodb';
import { z } from 'zod';

const dumpSchema = z.array(
  z.object({
    collection: z.string(),
    options: z.custom<Document>(),
    indexes: z.array(z.custom<IndexDescription>()),
    documents: z.array(z.custom<Document>()),
  }),
);

/** Writes the SQLite file of an earlier version. */
export function restoreSqlite(name: string, path: string): void {
  writeFileSync(path, gunzipSync(readFileSync(join(import.meta.dirname, `${name}.db.gz`))));
}

/** Fills an empty MongoDB database with what an earlier version had written. */
export async function restoreMongo(name: string, db: Db): Promise<void> {
  const text = gunzipSync(readFileSync(join(import.meta.dirname, `${name}.mongo.json.gz`))).toString();
  const dump = dumpSchema.parse(BSON.EJSON.parse(text, { relaxed: false }));
  for (const { collection, options, indexes, documents } of dump) {
    await db.createCollection(collection, options);
    if (documents.length > 0) await db.collection(collection).insertMany(documents);
    await db.collection(collection).createIndexes(indexes);
  }
}
