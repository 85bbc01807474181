import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { z } from 'zod';
import { memberFlags } from '../../test/cluster/member-flags.ts';
import { ground, type Served, serve } from '../../test/commands/capstan-process.ts';
import type { NatsServer } from '../../test/support/nats.ts';
import { startServers } from '../cluster/servers.ts';

/** Processes of a cluster with NATS and MongoDB of their own. */
export interface BenchCluster extends AsyncDisposable {
  readonly nats: NatsServer;
  start(role: 'api' | 'worker', ...flags: readonly string[]): Promise<Served>;
  /** Returns the number of tickets in the queue. */
  tickets(): Promise<number>;
}

export async function startBenchCluster(): Promise<BenchCluster> {
  const [servers, place] = await Promise.all([startServers(), ground()]);
  const { nats } = servers;
  const name = `bench-${randomBytes(4).toString('hex')}`;
  const started: Served[] = [];
  const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  return {
    nats,
    async start(role, ...flags) {
      const directory = join(place.path, `data-${started.length}`);
      const served = await serve(
        [
          ...['--role', role, ...memberFlags(servers, name)],
          ...['--allow-targets', '127.0.0.1', '--data-dir', directory, ...flags],
        ],
        place.options,
      );
      started.push(served);
      // A worker has one kind of readiness.
      const path = role === 'worker' ? '/readyz' : '/readyz/any';
      await until(async () => (await fetch(`${served.url}${path}`)).ok);
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
      await servers[Symbol.asyncDispose]();
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

const statsSchema = z.object({ data: z.object({ cluster: z.object({ workers: z.number() }) }) });

/** Returns the number of workers that a process knows. */
export async function workersOf(origin: string): Promise<number> {
  return statsSchema.parse(await (await fetch(`${origin}/stats`)).json()).data.cluster.workers;
}
