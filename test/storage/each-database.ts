import { join } from 'node:path';
import { beforeAll, describe } from 'vitest';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { Database } from '../../src/storage/ports/database.ts';
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
