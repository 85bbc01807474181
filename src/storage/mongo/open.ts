import type { Db } from 'mongodb';
import { deliveriesIn } from '../documents/deliveries.ts';
import { takeLock } from '../documents/lock.ts';
import { LeasedNode } from '../documents/nodes.ts';
import { storesIn } from '../documents/stores.ts';
import type { Database } from '../ports/database.ts';
import { OwnEventLog } from '../records/own-event-log.ts';
import { type Ask, MongoConnection, type OnState } from './connection.ts';
import { mongoDocuments } from './document-store.ts';
import { migrate } from './migrations.ts';
import { mongoResults } from './results.ts';

/** Another node of a cluster delivers soon after the one that did was killed. */
const DELIVERY_LEASE = { leaseMs: 15_000, renewalMs: 3_000 };

interface MongoOptions {
  /**
   * URL with `mongodb://` or `mongodb+srv://`. Its path names the database, `capstan` if it is empty. `timeoutMS` in it
   * is the time limit for each answer of the server, 10000 by default.
   */
  readonly url: string;
  readonly onState?: OnState;
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
export async function openMongo({ url, onState = () => {} }: MongoOptions): Promise<MongoDatabase> {
  const connection = new MongoConnection({ url, onState, migrate });
  const { ask, database } = connection;
  const results = mongoResults(database, ask, connection);
  const documents = mongoDocuments(database, ask);
  const nodes = new LeasedNode(documents);
  try {
    await connection.settled;
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    database,
    ask,
    isMultiProcess: true,
    results: results.store,
    ...storesIn(documents),
    nodes,
    lock: (name) => takeLock(documents, name),
    openDeliveries: () => deliveriesIn(documents, () => takeLock(documents, 'deliveries', DELIVERY_LEASE)),
    eventLog: (logOptions) => new OwnEventLog({ table: null, ...logOptions }),
    close: async () => {
      await results.idle();
      await nodes.release();
      await connection.close();
    },
  };
}
