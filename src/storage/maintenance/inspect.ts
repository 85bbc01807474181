import { existsSync, statSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorText } from '../../capture/basics/error-text.ts';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import { DamagedStoreError, readStore } from '../files/store-id.ts';
import { MongoConnection } from '../mongo/connection.ts';
import { checkSchema } from '../mongo/migrations.ts';
import type { StoreState } from '../ports/result-store.ts';
import { checkedVersion } from '../sqlite/schema.ts';
import { checkDatabaseFile, checkStoreExists, LostPlaceError } from './check-places.ts';

/**
 * Whether a database could be used. `refused`: the service would not start; `unavailable`: it would start without it.
 */
export interface Inspection {
  readonly state: 'usable' | 'unavailable' | 'refused';
  readonly detail: string;
  /** Advice; empty when the database is usable. */
  readonly advice: string;
}

/** Returns why a start would be refused, or captures could not be stored; undefined when all is well. */
export async function inspectStore(
  dataDir: string,
  dbPath: string | null,
  isRequired: boolean,
): Promise<Inspection | undefined> {
  try {
    if (isRequired) await checkStoreExists(dataDir, dbPath);
    await readStore(dataDir);
    return undefined;
  } catch (error) {
    if (error instanceof LostPlaceError)
      return refused(error.message, 'mount it, or create it without --require-store');
    if (error instanceof DamagedStoreError) return refused(error.message, error.advice);
    // A directory that cannot be read is reported by its own check.
    return undefined;
  }
}

/** Reads a SQLite file without changing it. */
export async function inspectSqlite(dbPath: string, dataDir: string): Promise<Inspection> {
  const path = resolve(dbPath);
  try {
    await checkDatabaseFile(dataDir, dbPath);
    if (!existsSync(path)) return await inspectPlaceOf(path);
    await access(path, constants.R_OK | constants.W_OK);
    if (statSync(path).isDirectory()) return unavailable(`${path} is a directory`, 'name a file by --db-path');
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      // The service accepts an empty file, and marks it as its own.
      const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
      const version = isEmpty ? 0 : checkedVersion(db);
      return usable(`${path}, schema version ${version}`);
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof LostPlaceError) return refused(error.message, 'mount it, or restore a backup');
    if (error instanceof NewerSchemaError) return refused(error.message, 'start that version, or use another file');
    const reason = errorText(error);
    return unavailable(`${path}: ${reason}`, 'run `capstan db check`, then restore a backup or `capstan db rebuild`');
  }
}

async function inspectPlaceOf(path: string): Promise<Inspection> {
  const place = existingParent(path);
  try {
    await access(place, constants.W_OK);
    return usable(`${path}, which will be created`);
  } catch {
    return unavailable(`${path} cannot be created: ${place} cannot be written`, `let the service's user write to it`);
  }
}

/** Returns the nearest directory above a path that exists. */
export function existingParent(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : existingParent(parent);
}

/** Connects to a MongoDB server and reads its schema version. Changes nothing. */
export async function inspectMongo(url: string): Promise<Inspection> {
  let why = '';
  try {
    const onState = (_: StoreState, reason: string) => {
      why = reason;
    };
    const connection = new MongoConnection({ url, onState, migrate: checkSchema });
    try {
      await connection.settled;
      if (connection.state !== 'up') return unavailable(why, 'start the server, and check the URL and its credentials');
      const { version } = await connection.database.admin().command({ buildInfo: 1 });
      return usable(`version ${version}, database "${connection.database.databaseName}"`);
    } finally {
      await connection.close();
    }
  } catch (error) {
    return refused(errorText(error), 'correct --mongo-url, or start the version of Capstan that wrote the database');
  }
}

function usable(detail: string): Inspection {
  return { state: 'usable', detail, advice: '' };
}

function unavailable(detail: string, advice: string): Inspection {
  return { state: 'unavailable', detail, advice };
}

function refused(detail: string, advice: string): Inspection {
  return { state: 'refused', detail, advice };
}
