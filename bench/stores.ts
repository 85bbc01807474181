import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';

/** Records in MongoDB for lists with conditions: inserting a million takes an hour where it is emulated. */
const MONGO_RESULTS = 100_000;

/** Queries on a large store, in processes of their own, which print a table for each store. */
export async function stores({ storedResults, print }: BenchOptions): Promise<readonly []> {
  print(`by host on ${storedResults} stored results (p99 of all: under 20 ms)`);
  await run('by-host.ts', ['--rows', String(storedResults)]);
  print(`with conditions on ${storedResults} stored results (p99 of all: under 50 ms)`);
  await run('conditions.ts', ['--rows', String(storedResults)]);
  await run('conditions.ts', ['--rows', String(Math.min(storedResults, MONGO_RESULTS)), '--store', 'mongo']);
  return [];
}

async function run(name: string, flags: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, name), ...flags], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`bench/${name} ended with ${code}`);
}
