import { DatabaseSync } from 'node:sqlite';

/** Longer than a commit of the service takes on a busy machine. */
const PATIENCE_MS = 30_000;

/** Holds SQLite's write lock on a file, as another process would, until it is disposed of. */
export function lockDatabase(path: string): Disposable {
  const db = new DatabaseSync(path, { timeout: PATIENCE_MS });
  db.exec('BEGIN EXCLUSIVE');
  return {
    [Symbol.dispose]: () => {
      db.exec('ROLLBACK');
      db.close();
    },
  };
}
