import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { ground, type Served, serve } from '../../test/commands/capstan-process.ts';
import { startMongo } from '../../test/support/mongo.ts';
import { type NatsServer, startNats } from '../../test/support/nats.ts';

/** Processes of a cluster with NATS and MongoDB of their own. */
export interface BenchCluster extends AsyncDisposable {
  readonly nats: NatsServer;
  start(role: 'api' | 'worker', ...flags: readonly string[]): Promise<Served>;
  /** Returns the number of tickets in the queue. */
  tickets(): Promise<number>;
}

export async function startBenchCluster(): Promise<BenchCluster> {
  const [mongo, nats, place] = await Promise.all([startMongo(), startNats(), ground()]);
  const name = `bench-${randomBytes(4).toString('hex')}`;
  const started: Served[] = [];
  const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  return {
    nats,
    async start(role, ...flags) {
      const directory = join(place.path, `data-${started.length}`);
      const served = await serve(
        [
          ...['--role', role, '--nats-url', nats.url, '--mongo-url', `${mongo.url}${name}`, '--cluster-name', name],
          ...['--allow-targets', '127.0.0.1', '--data-dir', directory, '--min-free-memory', '0'],
          ...['--max-loop-delay-ms', '600000', ...flags],
        ],
        place.options,
      );
      started.push(served);
      await until(async () => (await fetch(`${served.url}/readyz`)).ok);
      return served;
    },
    async tickets() {
      const { streams } = await jetstreamManager(connection);
      return (await streams.info(`${name}-work`)).state.messages;
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await Promise.all([mongo.remove(), nats.remove()]);
      await place[Symbol.asyncDispose]();
    },
  };
}

const POLL_MS = 2;
const PATIENCE_MS = 60_000;

/** Resolves with the milliseconds until the condition holds. An exception counts as false. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const holds = await Promise.resolve()
      .then(condition)
      .catch(() => false);
    const passed = performance.now() - startedAt;
    if (holds) return passed;
    if (passed > PATIENCE_MS) throw new Error(`not within ${PATIENCE_MS} ms: ${condition}`);
    await delay(POLL_MS);
  }
}
