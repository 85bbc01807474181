import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';

/** Maximum number of files that run at a time, not counting `BESIDE`. With four, captures starved on a slow machine. */
const BUSY_FILES = 3;

/**
 * Files that run beside those that have turns, longest first: they mostly wait, for servers, processes and leases, and
 * their captures meet their deadlines on any machine.
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

/** The variable that tells the processes of a run where they ask for turns, whatever TMPDIR a test gives them. */
const SOCKET = 'BUSY_FILES_SOCKET';

/** Gives each of the files that connect its turn, in the order of their connections. Returns what stops that. */
export function setup(): () => void {
  const path = join(tmpdir(), 'busy-files.socket');
  process.env[SOCKET] = path;
  const inTurn = pLimit(BUSY_FILES);
  const server = createServer((file) => {
    const ended = once(file.resume(), 'close').catch(() => undefined);
    void inTurn(async () => {
      file.write('go');
      await ended;
    });
  }).listen(path);
  return () => void server.close();
}

/** The turn of this process, whose files run one after the other. */
let turn: Socket | undefined;

/**
 * Waits for the turn of a test file, unless it runs beside the others. Code at the top level of the file runs before.
 * Resolves with what ends the turn.
 *
 * @throws Error when the run ends first
 */
export async function turnOf(path: string): Promise<() => void> {
  // Still open when the hooks of the file before failed.
  turn?.destroy();
  if (BESIDE.some((name) => path.endsWith(name))) return () => {};
  const own = connect(process.env[SOCKET] ?? '');
  turn = own;
  const closed = once(own, 'close').then(() => Promise.reject(new Error(`the run ended before the turn of ${path}`)));
  await Promise.race([once(own, 'data'), closed]);
  return () => void own.destroy();
}
