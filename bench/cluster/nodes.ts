import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import type { Servers } from './servers.ts';

const POLL_MS = 50;
/** Time limit for the processes of a cluster to find each other, in milliseconds. */
const FOUND_MS = 60_000;

const statsSchema = z.object({ data: z.object({ cluster: z.object({ workers: z.number() }) }) });

/** One api node and workers, each a process of its own. */
export interface Nodes {
  readonly api: ServiceProcess;
  readonly workers: readonly ServiceProcess[];
  stop(): Promise<void>;
}

export interface NodesOptions {
  readonly servers: Servers;
  /** Name of the cluster and of its database. */
  readonly name: string;
  readonly workers: number;
  /** Slots of each worker. */
  readonly slots: number;
  readonly browserPath: string;
}

/** Returns the flags of `capstan serve` for a member of a cluster. */
export function memberFlags({ nats }: Pick<Servers, 'nats'>, name: string): readonly string[] {
  return ['--nats-url', nats.url, '--cluster-name', name];
}

/** Resolves when the api node knows all workers. */
export async function startNodes({ servers, name, workers, slots, browserPath }: NodesOptions): Promise<Nodes> {
  const started: ServiceProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.allSettled(started.map((node) => node.stop()));
  };
  const start = async (...flags: readonly string[]): Promise<ServiceProcess> => {
    const node = await startServiceProcess({
      browserPath,
      database: ['--mongo-url', `${servers.mongo.url}${name}`],
      flags: [...memberFlags(servers, name), '--min-free-memory', '0', '--max-loop-delay-ms', '600000', ...flags],
    });
    started.push(node);
    return node;
  };
  try {
    // The first process creates the collections.
    const api = await start('--role', 'api');
    const own = await Promise.all(
      Array.from({ length: workers }, () => start('--role', 'worker', '--max-concurrent', String(slots))),
    );
    await knows(api, workers);
    return { api, workers: own, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function knows(api: ServiceProcess, workers: number): Promise<void> {
  const until = performance.now() + FOUND_MS;
  while (performance.now() < until) {
    const body = await (await fetch(`${api.origin}/stats`)).json();
    if (statsSchema.parse(body).data.cluster.workers === workers) return;
    await delay(POLL_MS);
  }
  throw new Error(`the api node does not know its ${workers} workers after ${FOUND_MS} ms`);
}
