import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { type Ground, ground, type Served, serve } from '../commands/capstan-process.ts';
import { forSuite } from '../support/for-suite.ts';
import { type MongoServer, whyNoMongo } from '../support/mongo.ts';
import { type NatsServer, startNats, whyNoNats } from '../support/nats.ts';
import { relayedMongo, sharedMongo } from '../support/shared-mongo.ts';
import { memberFlags, type Servers } from './member-flags.ts';

export type { Servers };

/** For `vi.waitFor`, which also waits outside of tests. */
const PATIENCE = { timeout: 120_000 };

/** Returns why no cluster can run here; undefined when one can. */
export async function whyNoCluster(): Promise<string | undefined> {
  return (await whyNoMongo()) ?? (await whyNoNats());
}

/** The shared MongoDB, and NATS for a suite. `configureNats`: returns flags of the NATS server. */
export function serversForSuite(configureNats?: () => Promise<readonly string[]>): Servers {
  return serversOf(async () => ({ url: await sharedMongo(), remove: async () => {} }), configureNats);
}

/** Servers that the suite may stop, both of them. */
export type OwnServers = ReturnType<typeof ownServersForSuite>;

/** NATS for a suite, and its own address of the shared MongoDB, so that it can stop both. */
export function ownServersForSuite() {
  return serversOf(relayedMongo);
}

function serversOf<M extends Pick<MongoServer, 'url' | 'remove'>>(
  startDatabase: () => Promise<M>,
  configureNats: () => Promise<readonly string[]> = async () => [],
): { readonly mongo: M; readonly nats: NatsServer } {
  return {
    mongo: forSuite(startDatabase, (mongo) => mongo.remove()),
    nats: forSuite(
      () => configureNats().then(startNats),
      (nats) => nats.remove(),
    ),
  };
}

/** The processes of one cluster, which share nothing but the servers. */
export interface ClusterOfProcesses extends AsyncDisposable {
  readonly place: Ground;
  start(role: 'all' | 'api' | 'worker', ...flags: readonly string[]): Promise<Served>;
  /** Starts a process that has ended again, with its flags and its directory. */
  again(ended: Served): Promise<Served>;
  /** Resolves when a node knows this many workers. */
  workers(node: Served, count: number): Promise<void>;
}

/** `name`: name of the cluster and of its database. Processes that still run are killed at the end. */
export async function clusterOf(servers: Servers, name: string): Promise<ClusterOfProcesses> {
  const place = await ground();
  const started: Served[] = [];
  const flagsOf = new Map<Served, readonly string[]>();
  let processes = 0;
  let first: Promise<unknown> | undefined;
  const launch = async (flags: readonly string[]): Promise<Served> => {
    // The first process creates the collections: some servers hang when that happens beside others' writes. `first`
    // must be set before any await, so that concurrent starts wait for it.
    if (first !== undefined) await first;
    const starting = serve(flags, place.options);
    // Once only: the process may be killed later.
    first ??= starting.then(hasDatabase).catch(() => undefined);
    const served = await starting;
    started.push(served);
    flagsOf.set(served, flags);
    return served;
  };
  return {
    place,
    start(role, ...flags) {
      processes += 1;
      const directory = join(place.path, `data-${processes}`);
      return launch([
        ...['--role', role, ...memberFlags(servers, name)],
        ...['--allow-targets', '127.0.0.1', '--data-dir', directory, ...flags],
      ]);
    },
    again: (ended) => launch(flagsOf.get(ended) ?? []),
    workers: async (node, count) => {
      await vi.waitFor(async () => expect((await clusterStats(node)).workers).toBe(count), PATIENCE);
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
    },
  };
}

/** Resolves when the process has prepared its database; needs no API key. Not at workers, which serve no reads. */
async function hasDatabase({ url }: Served): Promise<void> {
  const reads = async () => (await fetch(`${url}/readyz/reads`)).status;
  await vi.waitFor(async () => expect(await reads()).not.toBe(503), PATIENCE);
}

const clusterSchema = z.object({
  connected: z.boolean(),
  nodes: z.number(),
  workers: z.number(),
  slots: z.number(),
  running: z.number(),
  waiting: z.number(),
});

/** Returns the state of the cluster as one process reports it. */
export async function clusterStats({ url }: Pick<Served, 'url'>): Promise<z.infer<typeof clusterSchema>> {
  const body = await (await fetch(`${url}/stats`)).json();
  return z.object({ data: z.object({ cluster: clusterSchema }) }).parse(body).data.cluster;
}
