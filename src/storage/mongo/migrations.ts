import { setTimeout as delay } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import { prepareArtifacts } from './artifact-documents.ts';
import { collectionsOf, ensureIndexes } from './collections.ts';
import type { Patiently } from './connection.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { prepareIdempotency } from './idempotency.ts';
import { prepareJobs } from './jobs.ts';
import { prepareNodes } from './nodes.ts';

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
      await prepareNodes(collectionsOf(db).nodes);
      await prepareIdempotency(db);
      await prepareJobs(db);
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
  for (const name of ['evidence', 'leases', 'artifacts.progress'])
    if (!names.includes(name)) await db.createCollection(name);
}

interface SchemaDocument {
  readonly _id: 'schema';
  readonly version?: number;
  /** Lease of the process that migrates. */
  readonly migrating_until?: Date;
}

/** Lease of a migration, in seconds: a process that died blocks the others no longer than this. */
const LEASE_SECONDS = 60;
/** Not durable: if a crash of the server loses the lease, a step is repeated, and every step is idempotent. */
const LEASE_WRITE = { writeConcern: { w: 1 } } as const;
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
  const schema = db.collection<SchemaDocument>('schema');
  for (;;) {
    const { version, isNew, isFree } = await stateOf(db, schema, migrations.length);
    if (version === migrations.length) return;
    if (isNew) await createSchemaDocument(schema);
    // A process that waits only reads.
    if (!isFree || !(await claim(schema))) {
      await delay(WAIT_MS);
      continue;
    }
    try {
      await patiently((patient) => applyMissing(patient, schema, migrations));
    } finally {
      await schema.updateOne({ _id: 'schema' }, { $unset: { migrating_until: '' } }, LEASE_WRITE);
    }
  }
}

/** Checks the version without changing anything. Rejects with a `NewerSchemaError`. */
export async function checkSchema(db: Db): Promise<void> {
  await stateOf(db, db.collection<SchemaDocument>('schema'), MIGRATIONS.length);
}

/** Whether no process holds the lease, by the server's clock. */
const IS_FREE = { $lt: [{ $ifNull: ['$migrating_until', new Date(0)] }, '$$NOW'] };

/** Reads the state of the schema. Rejects with a `NewerSchemaError`. */
async function stateOf(db: Db, schema: Collection<SchemaDocument>, known: number) {
  const projection = { version: 1, isFree: IS_FREE };
  const found = await schema.findOne<{ version?: number; isFree: boolean }>({ _id: 'schema' }, { projection });
  const version = found?.version ?? 0;
  if (version <= known) return { version, isNew: found === null, isFree: found?.isFree ?? true };
  throw new NewerSchemaError(`the MongoDB database "${db.databaseName}"`, version, known);
}

async function applyMissing(
  db: Db,
  schema: Collection<SchemaDocument>,
  migrations: readonly Migration[],
): Promise<void> {
  const { version } = await stateOf(db, schema, migrations.length);
  for (const [at, { up }] of migrations.entries()) {
    if (at < version) continue;
    await up(db);
    // Never lowers a version that another process has reached meanwhile.
    await schema.updateOne({ _id: 'schema' }, { $max: { version: at + 1 } }, { upsert: true });
  }
}

/** Takes the lease; false when another process was faster. */
async function claim(schema: Collection<SchemaDocument>): Promise<boolean> {
  const until = { $dateAdd: { startDate: '$$NOW', unit: 'second', amount: LEASE_SECONDS } };
  const taken = [{ $set: { migrating_until: until } }];
  const claimed = await schema.updateOne({ _id: 'schema', $expr: IS_FREE }, taken, LEASE_WRITE);
  return claimed.modifiedCount === 1;
}

async function createSchemaDocument(schema: Collection<SchemaDocument>): Promise<void> {
  try {
    await schema.insertOne({ _id: 'schema', version: 0 }, LEASE_WRITE);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}
