import { resolve } from 'node:path';
import { deliveriesIn } from '../documents/deliveries.ts';
import { takeLock } from '../documents/lock.ts';
import { LeasedNode } from '../documents/nodes.ts';
import { storesIn } from '../documents/stores.ts';
import type { Database } from '../ports/database.ts';
import { KEPT_EVENTS } from '../ports/event-log.ts';
import { type EventTable, OwnEventLog } from '../records/own-event-log.ts';
import { exclusiveEvents } from './exclusive-events.ts';
import { sqliteResults } from './results.ts';
import { type OnState, SqliteThread } from './thread.ts';

export interface SqliteOptions {
  /** The database file; it and its directory are created when they are missing. */
  readonly path: string;
  readonly onState?: OnState;
  readonly onWarning?: (text: string) => void;
  /** Minimum number of events to keep. */
  readonly keptEvents?: number;
}

export interface SqliteDatabase extends Database {
  /** The table behind the event log. */
  readonly events: EventTable;
}

/**
 * Opens the database of one machine: a SQLite file with a thread of its own. Resolves when the file is open or
 * cannot be opened. In the latter case the database is `down`, rejects every call with the reason, and keeps trying.
 * Rejects when a later version of Capstan has changed the schema.
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteDatabase> {
  const { path, onState = () => {}, onWarning = () => {}, keptEvents = KEPT_EVENTS } = options;
  const thread = new SqliteThread({ path: resolve(path), keptEvents }, onState);
  const results = sqliteResults(thread.table('results'), thread);
  const documents = thread.table('documents');
  const nodes = new LeasedNode(documents);
  const events = thread.table('events');
  const exclusive = exclusiveEvents(events, `${resolve(path)}-events.lock`, () =>
    onWarning(
      `another process writes the event log of ${path}: until it ends, this process stores no events, and GET /events replays none`,
    ),
  );
  try {
    await thread.settled;
  } catch (error) {
    await thread.close();
    throw error;
  }
  return {
    isMultiProcess: false,
    results: results.store,
    ...storesIn(documents),
    nodes,
    lock: (name) => takeLock(documents, name),
    // The process that writes the log also delivers: its lock is free as soon as it is killed.
    openDeliveries: () => deliveriesIn(documents, async () => exclusive.hold()),
    events,
    eventLog: (logOptions) => new OwnEventLog({ table: exclusive, ...logOptions }),
    close: async () => {
      await results.idle();
      exclusive.release();
      await nodes.release();
      await thread.close();
    },
  };
}
