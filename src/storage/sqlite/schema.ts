import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectorySync } from '../files/directories.ts';
import { EVENTS_SCHEMA } from './events.ts';
import { IDEMPOTENCY_SCHEMA } from './idempotency.ts';
import { JOBS_SCHEMA } from './jobs.ts';
import { PERCEPTIONS_SCHEMA } from './perceptions.ts';

/** Marks the file as ours ("Cpst"): results are never written into a database of something else. */
const APPLICATION_ID = 0x43707374;
const VERSION = 1;
/** How long a statement waits for another process's write lock. */
const BUSY_TIMEOUT_MS = 2000;
const CACHE_KIB = 65_536;
const MAX_WAL_BYTES = 67_108_864;

/*
 * A host is written once and has its keys in small indexes; results refer to it by number. So by-host finds the hosts
 * by ranges of prefixes, and each host's results already in order.
 */
const SCHEMA = `
  CREATE TABLE hosts (
    host_id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    reversed TEXT NOT NULL,
    unicode TEXT
  ) STRICT;
  CREATE UNIQUE INDEX hosts_by_host ON hosts (host);
  CREATE INDEX hosts_by_reversed ON hosts (reversed);
  CREATE INDEX hosts_by_unicode ON hosts (unicode) WHERE unicode IS NOT NULL;

  CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    probed_at INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    url_key BLOB NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX results_by_time ON results (probed_at DESC, id DESC, host_id);
  CREATE INDEX results_by_host ON results (host_id, probed_at DESC, id DESC);
  CREATE INDEX results_by_url ON results (url_key, probed_at DESC, id DESC);

  CREATE TABLE nodes (
    node INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    free_at INTEGER NOT NULL
  ) STRICT;
`;

/** Apart from the records, so that lists do not read it. */
const EVIDENCE_SCHEMA = `
  CREATE TABLE IF NOT EXISTS evidence (
    id INTEGER PRIMARY KEY,
    evidence TEXT NOT NULL
  ) STRICT;
`;

/** The file is there, and is not one that we may write results into. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';
}

/** Opens the file, makes it and its directory when they are not there, and makes sure that it can be written. */
export function openDatabase(path: string): DatabaseSync {
  makeDirectorySync(dirname(path));
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL');
    // FULL: a commit that was answered is on the disk, also after a power cut.
    db.exec('PRAGMA synchronous = FULL');
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    db.exec(`PRAGMA journal_size_limit = ${MAX_WAL_BYTES}`);
    db.exec('BEGIN IMMEDIATE');
    const version = pragma(db, 'user_version');
    if (version === 0 && pragma(db, 'application_id') === 0 && isEmpty(db)) {
      db.exec(SCHEMA);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    } else if (pragma(db, 'application_id') !== APPLICATION_ID) {
      throw new ForeignFileError('it is a SQLite database of another application');
    } else if (version !== VERSION) {
      throw new ForeignFileError(`its format is ${version} and this version reads ${VERSION}`);
    }
    // What came after the first version, and takes nothing away from it.
    db.exec(EVENTS_SCHEMA);
    db.exec(IDEMPOTENCY_SCHEMA);
    db.exec(JOBS_SCHEMA);
    db.exec(EVIDENCE_SCHEMA);
    db.exec(PERCEPTIONS_SCHEMA);
    // Written every time: a file that can be read but not written must show now, not with the first result.
    db.exec(`PRAGMA user_version = ${VERSION}`);
    db.exec('COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function pragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}
