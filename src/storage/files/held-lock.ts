import { DatabaseSync } from 'node:sqlite';
import { touchPrivateSync } from './private-files.ts';

/** A lock on a file that the system takes back when its process ends, however it ends. */
export interface HeldLock {
  release(): void;
}

/**
 * Takes the lock at once, or not at all: undefined when somebody holds it, in this process or another, or when it
 * cannot be found out. SQLite's lock on an empty database file is used, as Node has none of its own: a process id in a
 * file says nothing once the id is given out again, or when the processes live in different containers.
 */
export function holdLock(file: string): HeldLock | undefined {
  let db: DatabaseSync | undefined;
  try {
    touchPrivateSync(file);
    db = new DatabaseSync(file, { timeout: 0 });
    // Nothing is written then, so that a full disk can be locked too: a journal on it would need a block.
    db.exec('PRAGMA journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
    const held = db;
    return { release: () => held.close() };
  } catch {
    db?.close();
    return undefined;
  }
}
