import { join } from 'node:path';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { ServiceConfig } from '../../src/config/slices.ts';
import type { WorkerService } from '../../src/service/create-worker.ts';
import { createWorker } from '../../src/service/create-worker.ts';
import { OFTEN } from '../support/often.ts';
import { type RunningService, serviceConfig, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import type { Servers } from './cluster-of-processes.ts';

/** The nodes of one cluster in this process: each with its own connections, parts and data directory. */
export interface Nodes extends AsyncDisposable {
  api(overrides?: Partial<ServiceConfig>): Promise<RunningService>;
  worker(overrides?: Partial<ServiceConfig>): Promise<WorkerService>;
}

/** `name`: name of the cluster and of its database. */
export async function nodesOf(servers: Servers, name: string, common: Partial<ServiceConfig> = {}): Promise<Nodes> {
  const directory = await makeDirectory();
  const config = (role: 'api' | 'worker', overrides: Partial<ServiceConfig>): Partial<ServiceConfig> => ({
    role,
    dbPath: null,
    mongoUrl: `${servers.mongo.url}${name}`,
    natsUrl: [servers.nats.url],
    clusterName: name,
    artifacts: 'gridfs',
    ...common,
    ...overrides,
  });
  const stops: (() => Promise<unknown>)[] = [];
  let workers = 0;
  let first: Promise<unknown> | undefined;
  /** The first node prepares the database alone: some servers hang when that happens beside others' writes. */
  const afterFirst = async <T>(start: () => Promise<T>): Promise<T> => {
    if (first !== undefined) await first.catch(() => undefined);
    const starting = start();
    first ??= starting;
    return starting;
  };
  const startApi = async (overrides: Partial<ServiceConfig>): Promise<RunningService> => {
    // Captures may be held for longer than the usual deadline of tests.
    const node = await startService(config('api', overrides), { timeoutMs: 60_000, maxTimeoutMs: 120_000 });
    stops.push(node.stop);
    // Without a worker, an api node is not ready for captures.
    await expect.poll(() => node.service.stats().cluster?.connected, OFTEN).toBe(true);
    await expect.poll(() => node.service.results.state, OFTEN).toBe('up');
    return node;
  };
  const startWorker = async (overrides: Partial<ServiceConfig>): Promise<WorkerService> => {
    workers += 1;
    const own = join(directory, String(workers));
    const worker = await createWorker(
      { ...serviceConfig(own), ...config('worker', overrides) },
      pino({ level: 'silent' }),
    );
    stops.push(() => worker.stop(0));
    await expect.poll(() => worker.readiness.ready, OFTEN).toBe(true);
    return worker;
  };
  return {
    api: (overrides = {}) => afterFirst(() => startApi(overrides)),
    worker: (overrides = {}) => afterFirst(() => startWorker(overrides)),
    async [Symbol.asyncDispose]() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
