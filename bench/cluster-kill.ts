import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import type { Finding } from './support/table.ts';

/**
 * In each round, kills a worker, an API node or NATS of a cluster with `kill -9` while clients send requests, and
 * checks that nothing was lost and nothing happened twice, and that both API nodes replay the event of each record.
 * Runs the test of the same name with more rounds; needs NATS and MongoDB.
 */
export const clusterKill = runsTest('rounds of kill -9', 'killed-nodes.test.ts');

/** Restarts MongoDB in each round, and checks the same. */
export const clusterMongo = runsTest('restarts of MongoDB', 'killed-nodes.test.ts', { CAPSTAN_KILL_MONGO: '1' });

/** Kills the object store too, in which captures are kept. */
export const clusterS3 = runsTest('rounds of kill -9, the object store included', 'killed-nodes-s3.test.ts');

function runsTest(what: string, test: string, environment: Readonly<Record<string, string>> = {}) {
  return async ({ rounds }: BenchOptions): Promise<readonly Finding[]> => {
    const root = join(import.meta.dirname, '..');
    const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', join('test/cluster', test)];
    const run = spawn(process.execPath, [...vitest, '--maxWorkers=1', '--retry=0', '--disable-console-intercept'], {
      cwd: root,
      env: { ...process.env, CI: 'true', CAPSTAN_KILL_ROUNDS: String(rounds), ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [code] = await once(run, 'close');
    const figure = code === 0 ? 'nothing lost, nothing twice' : `see above (exit code ${code})`;
    return [{ what: `cluster: ${rounds} ${what}`, figure, target: 'nothing lost, nothing twice', met: code === 0 }];
  };
}
