import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ground } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { killInRounds } from './killed-rounds.ts';
import { lockDatabase } from './locked-database.ts';
import { createRandom, seedOfRun } from './random.ts';

describe('a service that is killed with -9', () => {
  const site = siteForSuite();

  const random = createRandom(seedOfRun());

  it(`keeps everything that it answered until after the next start (seed ${random.seed})`, async () => {
    const place = await ground();
    const undisturbed = () => undefined;
    // Records wait in the outbox when the service is killed.
    const locked = () => lockDatabase(join(place.path, 'results.db'));
    const rounds = [undisturbed, locked, undisturbed];
    const answered = await killInRounds({ site, place, flags: ['--db-path', 'results.db'], rounds, random });
    expect(answered).toBeGreaterThanOrEqual(2 * rounds.length);
    expect(await readdir(place.path)).toEqual(['data', 'results.db', 'results.db-events.lock']);
    await expect.poll(() => place.browsers()).toEqual([]);
  });
});
