import type { DatabaseSync } from 'node:sqlite';

/** Runs `work` in a transaction: commits and returns its result, or rolls back and rethrows its exception. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    db.exec('COMMIT');
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Overwrites in the file what `work` replaces or removes: requests may contain credentials. */
export function erasing<T>(db: DatabaseSync, work: () => T): T {
  db.exec('PRAGMA secure_delete = ON');
  try {
    return work();
  } finally {
    db.exec('PRAGMA secure_delete = OFF');
  }
}
