import { join } from 'node:path';
import { beforeAll, describe } from 'vitest';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

/**
 * Runs the tests of a store in SQLite and in MongoDB. Each call of `open` opens the same database, the suite's own.
 */
export function describeInEachDatabase(suite: (open: () => Promise<Database>) => void): void {
  describe('in SQLite', () => {
    let directory: string;

    beforeAll(async () => {
      directory = await makeDirectory();
    });

    suite(() => openSqlite({ path: join(directory, 'results.db') }));
  });

  describeWithSharedMongo('in MongoDB', (url) => {
    suite(() => openMongo({ url: `${url()}store` }));
  });
}

/** Removes all records. */
export async function removeAll(store: Pick<ResultStore, 'oldest' | 'delete'>): Promise<void> {
  for (let ids = await store.oldest(1000, Number.MAX_SAFE_INTEGER); ids.length > 0; ) {
    await store.delete(ids);
    ids = await store.oldest(1000, Number.MAX_SAFE_INTEGER);
  }
}
