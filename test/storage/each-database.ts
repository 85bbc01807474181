import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { type MongoServer, startMongo, whyNoMongo } from '../support/mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const without = await whyNoMongo();

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

  describe.skipIf(without !== undefined)(`in MongoDB${without === undefined ? '' : ` (${without})`}`, () => {
    let server: MongoServer;

    beforeAll(async () => {
      server = await startMongo();
    }, 120_000);

    afterAll(() => server?.remove());

    suite(() => openMongo({ url: `${server.url}store` }));
  });
}
