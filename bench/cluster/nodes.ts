import { memberFlags } from '../../test/cluster/member-flags.ts';
import { until, workersOf } from '../support/cluster.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import type { Servers } from './servers.ts';

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

/** Resolves when the api node knows all workers. */
export async function startNodes({ servers, name, workers, slots, browserPath }: NodesOptions): Promise<Nodes> {
  const started: ServiceProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.allSettled(started.map((node) => node.stop()));
  };
  const start = async (...flags: readonly string[]): Promise<ServiceProcess> => {
    const node = await startServiceProcess({
      browserPath,
      database: [],
      flags: [...memberFlags(servers, name), ...flags],
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
    await until(async () => (await workersOf(api.origin)) === workers);
    return { api, workers: own, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
