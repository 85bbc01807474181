import { createNoDatabase } from './memory/no-database.ts';
import { type MongoDatabase, openMongo } from './mongo/open.ts';
import type { Database } from './ports/database.ts';
import type { StoreState } from './ports/result-store.ts';
import { openSqlite } from './sqlite/open.ts';

export interface DatabaseOptions {
  /** SQLite file of results. At most one of this and `mongoUrl`; without either there is no database. */
  readonly dbPath?: string | null;
  readonly mongoUrl?: string | null;
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

/** Opens the configured database; without one, a stand-in. */
export async function openDatabase({ dbPath, mongoUrl, onState, onWarning }: DatabaseOptions): Promise<OpenDatabase> {
  const observed = onState === undefined ? {} : { onState };
  const warned = onWarning === undefined ? {} : { onWarning };
  if (dbPath != null) return { database: await openSqlite({ path: dbPath, ...observed, ...warned }) };
  if (mongoUrl == null) return { database: createNoDatabase() };
  const mongo = await openMongo({ url: mongoUrl, ...observed });
  return { database: mongo, mongo };
}

/** Opens the database for a command, which needs one. */
export async function openExisting(options: DatabaseOptions): Promise<Database> {
  if (options.dbPath != null || options.mongoUrl != null) return (await openDatabase(options)).database;
  throw new Error('no database is configured: set --db-path or --mongo-url');
}
