import { DatabaseSync } from 'node:sqlite';
import type { HeldLock } from '../lock.ts';
import { touchPrivateSync } from './private-files.ts';

/** A lock on a file. The system releases it when its process ends. */
export interface HeldFileLock extends HeldLock {
  release(): void;
}

/** SQLite's result code for a lock that another connection holds. */
const SQLITE_BUSY = 5;

/**
 * Takes the lock at once, or returns undefined: when another process, or another part of this one, holds it (then
 * `onHeld` is called), or when the file cannot be used. SQLite's lock on an empty database file is used, as Node has none
 * of its own: a process id in a file says nothing once the id is reused, or when the processes live in different
 * containers.
 */
export function holdLock(file: string, onHeld: () => void = () => {}): HeldFileLock | undefined {
  let db: DatabaseSync | undefined;
  try {
    touchPrivateSync(file);
    db = new DatabaseSync(file, { timeout: 0 });
    // Nothing is written then, so that a full disk can be locked too: a journal on it would need a block.
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
