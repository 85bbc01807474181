import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { Database } from '../ports/database.ts';
import { LeasedNode } from '../records/leased-node.ts';
import { createOwnEventLog } from '../records/own-event-log.ts';
import { collectionsOf } from './collections.ts';
import { type Ask, MongoConnection, type OnState } from './connection.ts';
import { mongoIdempotency } from './idempotency.ts';
import { mongoJobs } from './jobs.ts';
import { migrate } from './migrations.ts';
import { mongoNodes } from './nodes.ts';
import { mongoQueries } from './queries.ts';
import { mongoResults } from './results.ts';
import { mongoWatches } from './watches.ts';

export interface MongoOptions {
  /** URL with `mongodb://` or `mongodb+srv://`. Its path names the database, `capstan` if it is empty. */
  readonly url: string;
  readonly onState?: OnState;
  /** Time limit for a server that accepts connections and does not answer, in milliseconds. @default 10000 */
  readonly silenceMs?: number;
}

export interface MongoDatabase extends Database {
  readonly database: Db;
  readonly ask: Ask;
}

/**
 * Opens the database that several machines share. Resolves when the server is reached, or after the first failed
 * attempt: then the database is `down` and keeps trying. Rejects when the URL is invalid, and when a later version of
 * Capstan has changed the schema.
 */
export async function openMongo({ url, onState = () => {}, silenceMs }: MongoOptions): Promise<MongoDatabase> {
  const connection = new MongoConnection({ url, onState, migrate, silenceMs });
  const { ask, database } = connection;
  const results = mongoResults(database, ask, connection);
  const nodes = new LeasedNode(mongoNodes(collectionsOf(database).nodes, ask, connection, randomUUID()));
  try {
    await connection.settled;
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    database,
    ask,
    results: results.store,
    jobs: mongoJobs(database, ask),
    watches: mongoWatches(database, ask),
    queries: mongoQueries(database, ask),
    idempotency: mongoIdempotency(database, ask),
    nodes,
    eventLog: (logOptions) => createOwnEventLog({ table: null, ...logOptions }),
    close: async () => {
      await results.idle();
      await nodes.release();
      await connection.close();
    },
  };
}
