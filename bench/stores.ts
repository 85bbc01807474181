import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';

/** Queries by host on a large store, in a process of its own; prints a table for each store. */
export async function stores({ storedResults, print }: BenchOptions): Promise<readonly []> {
  print(`by host on ${storedResults} stored results (p99 of all: under 20 ms)`);
  const script = join(import.meta.dirname, 'by-host.ts');
  const child = spawn(process.execPath, [script, '--rows', String(storedResults)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`bench/by-host.ts ended with ${code}`);
  return [];
}
