import { type DatabaseKind, type DatabasePlaces, databaseOf } from '../capture/artifacts/artifacts.ts';
import { createNoDatabase } from './memory/no-database.ts';
import type { MongoDatabase } from './mongo/open.ts';
import type { Database } from './ports/database.ts';
import type { StoreState } from './ports/result-store.ts';
import { openSqlite } from './sqlite/open.ts';

export interface DatabaseObservers {
  /** Called when the state of the database changes, with the reason when it is `down`. */
  readonly onState?: (state: StoreState, reason: string) => void;
  /** Called with one line when a new store is created, or data directory and database do not belong together. */
  readonly onWarning?: (text: string) => void;
}

interface OpenDatabase {
  readonly database: Database;
  /** The same database, if it is MongoDB. */
  readonly mongo?: MongoDatabase;
}

type Opener = (place: string, observers: DatabaseObservers) => Promise<OpenDatabase>;

/** Opens each kind of database at its place. */
const OPENERS: Readonly<Record<DatabaseKind, Opener>> = {
  sqlite: async (path, observers) => ({ database: await openSqlite({ ...observers, path }) }),
  mongo: async (url, observers) => {
    // Loaded on demand, so that a service with SQLite starts without the driver.
    const { openMongo } = await import('./mongo/open.ts');
    const mongo = await openMongo({ ...observers, url });
    return { database: mongo, mongo };
  },
};

/** Opens the configured database; without a place, a stand-in. */
export async function openDatabase(options: Partial<DatabasePlaces> & DatabaseObservers): Promise<OpenDatabase> {
  const configured = databaseOf(options);
  if (configured === undefined) return { database: createNoDatabase() };
  return OPENERS[configured.kind](configured.place, options);
}
