import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { openMongoStore } from '../../src/storage/mongo/store.ts';
import type { ResultStore } from '../../src/storage/result-store.ts';
import { openSqliteStore } from '../../src/storage/sqlite/store.ts';
import { type MongoServer, startMongo, whyNoMongo } from '../support/mongo.ts';

const without = await whyNoMongo();

/** What holds for a store over either database. `open` gives one over a database of the suite's own, the same each time. */
export function describeInEachDatabase(suite: (open: () => Promise<ResultStore>) => void): void {
  describe('in SQLite', () => {
    let directory: string;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-store-'));
    });

    afterAll(() => rm(directory, { recursive: true, force: true }));

    suite(() => openSqliteStore({ path: join(directory, 'results.db') }));
  });

  describe.skipIf(without !== undefined)(`in MongoDB${without === undefined ? '' : ` (${without})`}`, () => {
    let server: MongoServer;

    beforeAll(async () => {
      server = await startMongo();
    }, 120_000);

    afterAll(() => server?.remove());

    suite(() => openMongoStore({ url: `${server.url}store` }));
  });
}
