import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe } from 'vitest';
import type { Places } from '../../src/storage/maintenance/places.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

type Suite = (places: () => Places) => void;

/** Runs the tests with a data directory for each, and SQLite or MongoDB. */
export function describeWithPlaces(name: string, suite: Suite): void {
  let dataDir = '';

  describe(`${name}, with SQLite`, () => {
    beforeEach(async () => {
      dataDir = join(await makeDirectory(), 'data');
    });
    suite(() => ({ dataDir, dbPath: join(dataDir, '../results.db'), mongoUrl: null, artifacts: 'files' }));
  });

  describeWithSharedMongo(`${name}, with MongoDB`, (url) => {
    beforeEach(async () => {
      dataDir = join(await makeDirectory(), 'data');
    });
    afterEach(() => emptyDatabase(url()));
    suite(() => ({ dataDir, dbPath: null, mongoUrl: url(), artifacts: 'files' }));
  });
}

export type Work = 'store' | 'store-without-words' | 'index' | 'mark';

/** Starts a process of `store-writer.ts`. */
export function startWriter(work: Work, places: Places, number = 0) {
  const path = join(import.meta.dirname, 'store-writer.ts');
  return spawn(process.execPath, ['--no-warnings', path, work, JSON.stringify(places), String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Runs a process until it has printed this many lines, and kills it. Resolves with all that it has printed. */
export async function writeUntil(
  lines: number,
  work: Work,
  places: Places,
  number: number,
): Promise<readonly string[]> {
  const child = startWriter(work, places, number);
  const exit = once(child, 'exit');
  const printed: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(line);
    if (printed.length === lines) child.kill('SIGKILL');
  }
  await exit;
  return printed;
}
