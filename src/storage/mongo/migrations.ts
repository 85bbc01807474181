import { Binary, type Db } from 'mongodb';
import { NewerSchemaError } from '../newer-schema-error.ts';
import { collectionsOf, ensureIndexes } from './collections.ts';
import { prepareIdempotency } from './idempotency.ts';
import { prepareJobs } from './jobs.ts';

/*
 * The schema, as ordered steps; a document holds the number of steps that the database has. Every step is idempotent, so
 * that several processes may run the same ones at once, and one that was killed is followed by one that repeats it. A
 * step that was released is never changed: a change of the schema is a new step at the end.
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
    // Their requests may hold credentials, and nothing needs them any more.
    name: 'no requests of ended jobs',
    up: async (db) => {
      const ended = { state: { $nin: ['queued', 'running'] } };
      await db.collection('jobs').updateMany(ended, { $set: { work: new Binary(new Uint8Array()) } });
    },
  },
];

interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
}

/** Applies the migrations that the database does not have yet. Rejects with a `NewerSchemaError`. */
export async function migrate(db: Db): Promise<void> {
  const schema = db.collection<SchemaDocument>('schema');
  const version = (await schema.findOne({ _id: 'schema' }))?.version ?? 0;
  if (version > MIGRATIONS.length) {
    throw new NewerSchemaError(`the MongoDB database "${db.databaseName}"`, version, MIGRATIONS.length);
  }
  for (const [at, { up }] of MIGRATIONS.entries()) {
    if (at < version) continue;
    await up(db);
    // Never lowers the version that another process has reached meanwhile.
    await schema.updateOne({ _id: 'schema' }, { $max: { version: at + 1 } }, { upsert: true });
  }
}
