import { Binary, type Db } from 'mongodb';
import { NewerSchemaError } from '../newer-schema-error.ts';
import { urlKeysOf } from '../records/record.ts';
import { collectionsOf, ensureIndexes } from './collections.ts';
import { prepareIdempotency } from './idempotency.ts';
import { prepareJobs } from './jobs.ts';

/*
 * The schema, as ordered steps; a document holds the number of applied steps. Every step is idempotent, so that several
 * processes may run it at once and a killed one can be repeated. Never change a released step: append a new one.
 */

export interface Migration {
  readonly name: string;
  readonly up: (db: Db) => Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    name: 'indexes',
    up: async (db) => {
      await ensureIndexes(collectionsOf(db));
      await prepareIdempotency(db);
      await prepareJobs(db);
    },
  },
  {
    // Their requests may contain credentials, and nothing needs them any more.
    name: 'no requests of ended jobs',
    up: async (db) => {
      const ended = { state: { $nin: ['queued', 'running'] } };
      await db.collection('jobs').updateMany(ended, { $set: { work: new Binary(new Uint8Array()) } });
    },
  },
  { name: 'results by normalised URL and by final URL', up: indexUrls },
];

/** Operations that are sent at once. */
const BATCH = 1000;

async function indexUrls(db: Db): Promise<void> {
  const { results } = collectionsOf(db);
  await ensureIndexes(collectionsOf(db));
  const update = async (
    documents: readonly { readonly _id: number; readonly url: string; readonly final_url: string }[],
  ) =>
    results.bulkWrite(
      documents.map(({ _id, url, final_url }) => ({
        updateOne: {
          filter: { _id },
          update: {
            $set: { url_keys: urlKeysOf({ url, final_url }).map((key) => new Binary(key)) },
            $unset: { url_key: '' },
          },
        },
      })),
      { ordered: false },
    );
  let batch: { _id: number; url: string; final_url: string }[] = [];
  for await (const { _id, url, final_url } of results.find({ url_keys: { $exists: false } })) {
    batch.push({ _id, url: String(url), final_url: String(final_url ?? '') });
    if (batch.length < BATCH) continue;
    await update(batch);
    batch = [];
  }
  if (batch.length > 0) await update(batch);
  // Of version 0.1, by the URL as it was written.
  await results.dropIndex('by_url').catch(() => undefined);
}

interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
}

/** Applies the missing migrations. Rejects with a `NewerSchemaError`. */
export async function migrate(db: Db): Promise<void> {
  const schema = db.collection<SchemaDocument>('schema');
  const version = (await schema.findOne({ _id: 'schema' }))?.version ?? 0;
  if (version > MIGRATIONS.length) {
    throw new NewerSchemaError(`the MongoDB database "${db.databaseName}"`, version, MIGRATIONS.length);
  }
  for (const [at, { up }] of MIGRATIONS.entries()) {
    if (at < version) continue;
    await up(db);
    // Never lowers a version that another process has reached meanwhile.
    await schema.updateOne({ _id: 'schema' }, { $max: { version: at + 1 } }, { upsert: true });
  }
}
