import { randomUUID } from 'node:crypto';
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { makePrivateSync, PRIVATE_FILE, touchPrivateSync } from '../files/private-files.ts';
import { checkedVersion, ForeignFileError } from './schema.ts';

/** Files of a database: the database itself, its write-ahead log, and the index of the log. */
const SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * Returns the problems that SQLite finds in a database file; none when it is sound. Throws when it is not one of ours.
 */
export function problemsOfFile(path: string): readonly string[] {
  // SQLite reads it as a database without tables.
  if (statSync(path).size === 0) return ['it is an empty file'];
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    checkedVersion(db);
    const rows = db.prepare('PRAGMA integrity_check(20)').all();
    return rows.map(({ integrity_check: found }) => String(found)).filter((found) => found !== 'ok');
  } catch (error) {
    if (error instanceof Error && 'errcode' in error) return [error.message];
    throw error instanceof ForeignFileError ? new ForeignFileError(`${path}: ${error.message}`) : error;
  } finally {
    db?.close();
  }
}

/** Copies a database that may be in use. The copy is a whole database of one instant. Rejects when `target` exists. */
export async function backupFile(path: string, target: string): Promise<void> {
  if (existsSync(target)) throw new Error(`${target} exists: name a file that does not`);
  // Another process may make a backup of the same name.
  const draft = `${target}.${randomUUID()}.incomplete`;
  touchPrivateSync(draft);
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    // Holds the instant that is copied: without it, each commit of another connection starts the copy again.
    db.exec('BEGIN; SELECT 1 FROM sqlite_schema');
    await backup(db, draft);
    sync(draft);
    renameSync(draft, target);
  } finally {
    db.close();
    for (const file of [draft, `${draft}-journal`]) rmSync(file, { force: true });
  }
}

/**
 * Puts a backup in the place of the database. A running service switches to it. Sets the replaced database
 * aside, and returns its new name. Throws, and changes nothing, when the backup is not sound.
 */
export function restoreFile(source: string, path: string): string | undefined {
  const problems = problemsOfFile(source);
  if (problems.length > 0) throw new Error(`${source} is damaged, nothing was changed: ${problems[0]}`);
  const draft = `${path}.incomplete`;
  try {
    copyFileSync(source, draft);
    makePrivateSync(draft, PRIVATE_FILE);
    sync(draft);
    const aside = setAside(path);
    renameSync(draft, path);
    return aside;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Moves a database and its other files away, and returns the new name; undefined when there is no database. */
export function setAside(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const aside = `${path}.replaced-${Date.now()}`;
  // The database is moved last: a crash before that leaves a database without its log, not a log without its database.
  for (const suffix of SUFFIXES.toReversed()) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}

function sync(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
