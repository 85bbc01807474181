import type { DatabaseSync } from 'node:sqlite';

/** What `work` gives, with all that it wrote or nothing of it: what it throws is thrown on. */
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
