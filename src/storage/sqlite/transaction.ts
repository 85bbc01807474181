import type { DatabaseSync } from 'node:sqlite';

/** Returns the result of `work` with everything it wrote, or nothing of it; exceptions are rethrown. */
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
