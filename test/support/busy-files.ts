import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';

/**
 * Number of files at a time that keep the cores busy, or whose captures are cut at their deadlines when others do. With
 * four on a slow machine, captures starved.
 */
const BUSY_FILES = 3;

/**
 * Files that run beside those that have turns, longest first: they mostly wait, for servers, processes and leases, and
 * no machine is too slow for their captures.
 */
export const BESIDE: readonly string[] = [
  'test/container/container.test.ts',
  'test/storage/s3-captures.test.ts',
  'test/faults/killed-messages.test.ts',
  'test/cluster/killed-nodes.test.ts',
  'test/faults/alerts.test.ts',
  'test/cluster/lost-worker.test.ts',
  'test/faults/killed-delivery.test.ts',
  'test/faults/mongo-away.test.ts',
  'test/commands/demo-cluster.test.ts',
  'test/cluster/rolling-restart.test.ts',
  'test/http/routes/jobs.test.ts',
  'test/commands/s3-db.test.ts',
  'test/commands/shot-server.test.ts',
  'test/cluster/killed-nodes-s3.test.ts',
  'test/faults/killed-scan.test.ts',
  'test/cluster/dead-targets.test.ts',
  'test/faults/sqlite-away.test.ts',
  'test/cluster/receivers.test.ts',
  'test/cluster/killed-jobs.test.ts',
  'test/support/ci-reporter.test.ts',
  'test/faults/killed-service.test.ts',
  'test/cluster/in-flight.test.ts',
  'test/cluster/tickets.test.ts',
  'test/watches/killed-runner.test.ts',
];

const door = (): string => join(tmpdir(), 'busy-files.socket');

/** Gives each of the files that connect its turn, in the order of their connections. Returns what stops that. */
export function setup(): () => void {
  const inTurn = pLimit(BUSY_FILES);
  const server = createServer((file) => {
    const ended = once(file.resume(), 'close').catch(() => undefined);
    void inTurn(async () => {
      file.write('go');
      await ended;
    });
  }).listen(door());
  return () => void server.close();
}

/** The turn of this process, whose files run one after the other. */
let turn: Socket | undefined;

/** Waits for the turn of a test file, unless it runs beside the others. Resolves with what ends the turn. */
export async function turnOf(path: string): Promise<() => void> {
  // Still open when the hooks of the file before failed.
  turn?.destroy();
  if (BESIDE.some((name) => path.endsWith(name))) return () => {};
  const own = connect(door());
  turn = own;
  await once(own, 'data');
  return () => void own.destroy();
}
