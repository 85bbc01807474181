import { setTimeout as delay } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { takeLock } from '../documents/lock.ts';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import { prepareArtifacts } from './artifact-objects.ts';
import { collectionsOf, ensureIndexes } from './collections.ts';
import type { Patiently } from './connection.ts';
import { mongoDocuments, prepareDocuments } from './document-store.ts';

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
    name: 'collections and indexes',
    up: async (db) => {
      await ensureIndexes(collectionsOf(db));
      await prepareDocuments(db);
      await prepareArtifacts(db);
      await createCollections(db);
    },
  },
];

/** Otherwise their first document would create them, which takes an exclusive lock while captures are running. */
async function createCollections(db: Db): Promise<void> {
  const names = await db
    .listCollections({}, { nameOnly: true })
    .map(({ name }) => name)
    .toArray();
  for (const name of ['evidence', 'nodes']) if (!names.includes(name)) await db.createCollection(name);
}

interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
}

/** Interval at which a process checks whether another one has finished, in milliseconds. */
const WAIT_MS = 100;

/**
 * Applies the missing migrations, in one process at a time: some servers hang when several create and drop the same
 * indexes at once. Rejects with a `NewerSchemaError`.
 */
export async function migrate(
  db: Db,
  patiently: Patiently = (work) => work(db),
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const documents = mongoDocuments(db, (work) => work());
  for (;;) {
    if ((await versionOf(db, migrations.length)) === migrations.length) return;
    const lock = await takeLock(documents, 'migration');
    if (lock === undefined) {
      await delay(WAIT_MS);
      continue;
    }
    try {
      await patiently((patient) => applyMissing(patient, migrations));
    } finally {
      await lock.release();
    }
  }
}

/** Checks the version without changing anything. Rejects with a `NewerSchemaError`. */
export async function checkSchema(db: Db): Promise<void> {
  await versionOf(db, MIGRATIONS.length);
}

function schemaOf(db: Db): Collection<SchemaDocument> {
  return db.collection('schema');
}

/** Reads the number of applied steps. Rejects with a `NewerSchemaError`. */
async function versionOf(db: Db, known: number): Promise<number> {
  const { version } = (await schemaOf(db).findOne({ _id: 'schema' })) ?? { version: 0 };
  if (version <= known) return version;
  throw new NewerSchemaError(`the MongoDB database "${db.databaseName}"`, version, known);
}

async function applyMissing(db: Db, migrations: readonly Migration[]): Promise<void> {
  const version = await versionOf(db, migrations.length);
  for (const [at, { up }] of migrations.entries()) {
    if (at < version) continue;
    await up(db);
    // Never lowers a version that another process has reached meanwhile.
    await schemaOf(db).updateOne({ _id: 'schema' }, { $max: { version: at + 1 } }, { upsert: true });
  }
}
