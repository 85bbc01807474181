import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import { makeDirectorySync } from '../files/directories.ts';
import { makePrivateSync, PRIVATE_FILE, touchPrivateSync } from '../files/private-files.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { inTransaction } from './transaction.ts';

/** Marks the file as ours ("Cpst"), so that results are never written into another application's database. */
const APPLICATION_ID = 0x43707374;
/** Time that a statement waits for another process's write lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 2000;
/** SQLite's name for a database without a file. */
const MEMORY = ':memory:';
const CACHE_KIB = 65_536;
const MAX_WAL_BYTES = 67_108_864;

/** Thrown when the file belongs to another application, so that results must not be written into it. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';
}

/**
 * Opens the file, applies the migrations that it does not have yet, and checks that it can be written. Creates the file
 * and its directory when they are missing.
 */
export function openDatabase(path: string, migrations: readonly Migration[] = MIGRATIONS): DatabaseSync {
  if (path !== MEMORY) makePrivate(path);
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL');
    // FULL: a commit that was answered survives a power cut.
    db.exec('PRAGMA synchronous = FULL');
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    db.exec(`PRAGMA journal_size_limit = ${MAX_WAL_BYTES}`);
    inTransaction(db, () => {
      claimFile(db);
      migrate(db, migrations);
    });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Makes the database private. SQLite gives its other files (`-wal`, `-shm`) the same mode. */
function makePrivate(path: string): void {
  makeDirectorySync(dirname(path));
  touchPrivateSync(path);
  for (const beside of ['-wal', '-shm']) makePrivateSync(path + beside, PRIVATE_FILE);
}

/** Marks an empty file as ours. Throws a `ForeignFileError` for another application's file. */
function claimFile(db: DatabaseSync): void {
  if (pragma(db, 'application_id') === APPLICATION_ID) return;
  if (pragma(db, 'application_id') !== 0 || pragma(db, 'user_version') !== 0 || !isEmpty(db)) {
    throw new ForeignFileError('it is a SQLite database of another application');
  }
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

/** Reads the schema version of a file of ours. Throws a `ForeignFileError` or a `NewerSchemaError`. */
export function checkedVersion(db: DatabaseSync, known: number = MIGRATIONS.length): number {
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new ForeignFileError('it is a SQLite database of another application');
  }
  const version = pragma(db, 'user_version');
  if (version > known) throw new NewerSchemaError('the SQLite database', version, known);
  return version;
}

/** Throws a `NewerSchemaError`. */
function migrate(db: DatabaseSync, migrations: readonly Migration[]): void {
  for (const { up } of migrations.slice(checkedVersion(db, migrations.length))) up(db);
  // Written every time, so that a file that cannot be written fails now, not with the first result.
  db.exec(`PRAGMA user_version = ${migrations.length}`);
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function pragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}
