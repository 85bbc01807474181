import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { Database } from '../database.ts';
import { collectionsOf, ensureIndexes } from './collections.ts';
import { MongoConnection, type OnState } from './connection.ts';
import { createMongoEventLog } from './event-log.ts';
import { mongoIdempotency, prepareIdempotency } from './idempotency.ts';
import { mongoJobs, prepareJobs } from './jobs.ts';
import { mongoNodes } from './nodes.ts';
import { mongoResults } from './results.ts';

export interface MongoOptions {
  /** `mongodb://` or `mongodb+srv://`; the database it names, or `capstan`. */
  readonly url: string;
  readonly onState?: OnState;
}

export interface MongoDatabase extends Database {
  readonly database: Db;
}

/**
 * Opens the database that several machines share. Resolves when the server is reached, or after the first attempt that
 * failed: then the database is `down` and keeps trying. Rejects only when the URL is not one.
 */
export async function openMongo({ url, onState = () => {} }: MongoOptions): Promise<MongoDatabase> {
  const connection = new MongoConnection(url, onState, prepare);
  const { ask, database } = connection;
  const results = mongoResults(database, ask, connection);
  const nodes = mongoNodes(collectionsOf(database).nodes, ask, connection, randomUUID());
  await connection.settled;
  return {
    database,
    results: results.store,
    jobs: mongoJobs(database, ask),
    idempotency: mongoIdempotency(database, ask),
    nodes,
    eventLog: (logOptions) => createMongoEventLog({ database, ...logOptions }),
    close: async () => {
      await results.idle();
      await nodes.release();
      await connection.close();
    },
  };
}

async function prepare(database: Db): Promise<void> {
  await ensureIndexes(collectionsOf(database));
  await prepareIdempotency(database);
  await prepareJobs(database);
}
