import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WATCH_LEASE_MS } from '../../src/storage/ports/watch-store.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { openDatabase, seedWatches } from './seeded-watches.ts';
import { AT_ONCE, type Runner, type Seen, startRunner } from './two-runners.ts';

const WATCHES = 400;
const POLL = { interval: 5 };

describe('two processes that run the same watches', () => {
  describe('in SQLite', () => runOnce(async () => join(await makeDirectory(), 'results.db')));

  describeWithSharedMongo('in MongoDB', (url) => runOnce(async () => `${url()}watches`));
});

function runOnce(newPlace: () => Promise<string>): void {
  it('run each watch once, although one of them is killed', async () => {
    const place = await newPlace();
    const now = Date.now();
    await seedWatches(place, { count: WATCHES, every: '300d', hosts: WATCHES / 2, dueAt: () => now });
    const seen: Seen = { begun: [], told: [] };
    const start = (options?: Parameters<typeof startRunner>[2]): Runner => {
      const runner = startRunner(place, seen, options);
      onTestFinished(() => runner.kill());
      return runner;
    };
    const told = () => new Set(seen.told.map(({ id }) => id)).size;

    // Leaves half of them, however late the other process starts.
    const killed = start({ ending: WATCHES / 2 });
    await expect.poll(() => killed.told, POLL).toBeGreaterThan(0);
    const other = start();
    await expect.poll(() => other.told, POLL).toBeGreaterThan(0);
    await killed.kill();
    await expect.poll(told, POLL).toBeGreaterThanOrEqual(WATCHES - AT_ONCE);
    // Sees the leases of the killed process as expired.
    const third = start({ ahead: WATCH_LEASE_MS + 1_000 });
    await expect.poll(told, POLL).toBe(WATCHES);
    await Promise.all([other.kill(), third.kill()]);

    const database = await openDatabase(place);
    onTestFinished(() => database.close());
    for (let id = 1; id <= WATCHES; id += 1) {
      expect((await database.watches.runs(id, 10, Number.MAX_SAFE_INTEGER)).items).toHaveLength(1);
    }
    // Only what was under way in the killed process was begun, or told, a second time.
    expect(seen.begun.length - new Set(seen.begun.map(({ id }) => id)).size).toBeLessThanOrEqual(AT_ONCE);
    expect(seen.told.length - told()).toBeLessThanOrEqual(AT_ONCE);
    expect(killed.told).toBeLessThan(WATCHES);
  });
}
