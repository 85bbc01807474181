import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import type { Finding } from './support/table.ts';

const TEST = 'test/cluster/killed-nodes.test.ts';
const TEST_WITH_S3 = 'test/cluster/killed-nodes-s3.test.ts';

/**
 * In each round, kills a worker, an API node or NATS of a cluster with `kill -9` while clients send requests, and
 * checks that nothing was lost and nothing happened twice, and that both API nodes replay the event of each record.
 * Runs the test of the same name with more rounds; needs NATS and MongoDB.
 */
export function clusterKill({ rounds }: BenchOptions): Promise<readonly Finding[]> {
  return runRounds(`cluster, ${rounds} rounds of kill -9`, rounds);
}

/** Restarts MongoDB in each round, and checks the same. */
export function clusterMongo({ rounds }: BenchOptions): Promise<readonly Finding[]> {
  return runRounds(`cluster, ${rounds} restarts of MongoDB`, rounds, { CAPSTAN_KILL_MONGO: '1' });
}

/** Kills the object store too, in which captures are kept. */
export function clusterS3({ rounds }: BenchOptions): Promise<readonly Finding[]> {
  return runRounds(`cluster with an object store, ${rounds} rounds of kill -9`, rounds, {}, TEST_WITH_S3);
}

async function runRounds(
  what: string,
  rounds: number,
  environment: Readonly<Record<string, string>> = {},
  test = TEST,
): Promise<readonly Finding[]> {
  const root = join(import.meta.dirname, '..');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = spawn(
    process.execPath,
    [vitest, 'run', test, '--maxWorkers=1', '--retry=0', '--disable-console-intercept'],
    {
      cwd: root,
      env: { ...process.env, CI: 'true', CAPSTAN_KILL_ROUNDS: String(rounds), ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = await once(run, 'close');
  const figure = code === 0 ? 'nothing lost, nothing twice' : `see above (exit code ${code})`;
  return [{ what, figure, target: 'nothing lost, nothing twice', met: code === 0 }];
}
