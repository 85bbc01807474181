import { DatabaseSync } from 'node:sqlite';
import type { HeldLock } from '../ports/lock.ts';
import { touchPrivateSync } from './private-files.ts';

/** A lock on a file. The system releases it when its process ends. */
export interface HeldFileLock extends HeldLock {
  release(): void;
}

/** SQLite's result code for a lock that another connection holds. */
const SQLITE_BUSY = 5;

/**
 * Takes the lock at once. Returns undefined when the file cannot be used, or when another process or another part of
 * this one holds the lock; then `onHeld` is called. Node has no file locks, so this is SQLite's lock on an empty
 * database file. A process id in a file would say nothing once the id is reused, or when the processes live in
 * different containers.
 */
export function holdLock(file: string, onHeld: () => void = () => {}): HeldFileLock | undefined {
  let db: DatabaseSync | undefined;
  try {
    touchPrivateSync(file);
    db = new DatabaseSync(file, { timeout: 0 });
    // A journal in memory writes nothing, so that the lock also works on a full disk.
    db.exec('PRAGMA journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
    const held = db;
    return { isHeld: true, release: () => held.close() };
  } catch (error) {
    db?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) onHeld();
    return undefined;
  }
}
