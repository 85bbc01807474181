import { connect } from '@nats-io/transport-node';
import { startNats, whyNoNats } from '../../test/support/nats.ts';
import type { BenchOptions } from '../support/bench.ts';
import type { CaptureClient } from '../support/capture-client.ts';
import { watchTree } from '../support/process-tree.ts';
import { median, percentile } from '../support/statistics.ts';
import { type Finding, formatTable } from '../support/table.ts';
import { type StubNode, startStubNode, withClient } from './stub-nodes.ts';

/** Captures of a round that run one after another, and at the same time. */
const ALONE = 500;
const TOGETHER = 4_000;
const AT_ONCE = 64;
const SLOTS = 16;
/** Captures before the first measurement: the code gets compiled. */
const WARM_UP = 1_500;
const MAX_MS = 5;
const MAX_CPU_MS = 1;

/** Medians of the rounds. CPU time is milliseconds for each capture. */
export interface DispatchCost {
  /** Milliseconds that a cluster adds to a capture that needs no time itself, from the request to the answer. */
  readonly addedMs: { readonly p50: number; readonly p99: number };
  /** Time from the start of a capture that needs no time until its slot has the next one, in milliseconds. */
  readonly turnaroundMs: number;
  /** Many captures at once, when messages share system calls. */
  readonly busyCpuMs: { readonly single: number; readonly api: number; readonly worker: number; readonly nats: number };
  /** Version of the NATS server. */
  readonly natsVersion: string;
  readonly findings: readonly Finding[];
}

/** The cost of the way through NATS, with a stub in place of browsers and stores. */
export async function dispatchCost({ rounds, print, report }: BenchOptions): Promise<DispatchCost> {
  const missing = await whyNoNats();
  if (missing !== undefined) throw new Error(`no cluster can run here: ${missing}`);
  const nats = await startNats();
  const nodes: StubNode[] = [];
  const start = async (module: string, ...args: readonly string[]): Promise<StubNode> => {
    const node = await startStubNode(module, args);
    nodes.push(node);
    return node;
  };
  try {
    const single = withClient(await start('../support/dispatch-process.ts'));
    const api = withClient(await start('stub-node.ts', 'api', nats.url, 'stub', String(SLOTS)));
    const worker = await start('stub-node.ts', 'worker', nats.url, 'stub', String(SLOTS));
    const narrow = withClient(await start('stub-node.ts', 'api', nats.url, 'narrow', '1'));
    await start('stub-node.ts', 'worker', nats.url, 'narrow', '1');
    const contenders = [
      { name: 'one process', client: single.client, pids: [single.pid] },
      { name: 'api node, worker', client: api.client, pids: [api.pid, worker.pid, nats.pid] },
    ] as const;
    for (const { client } of contenders) await captureAll(client, WARM_UP, AT_ONCE);
    await captureAll(narrow.client, WARM_UP, AT_ONCE);

    const measured: Round[] = [];
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? contenders : contenders.toReversed();
      const seen = new Map<string, Measured>();
      for (const { name, client, pids } of order) seen.set(name, await measure(client, pids));
      const turnaround = await captureAll(narrow.client, ALONE, AT_ONCE);
      const [alone, cluster] = contenders.map(({ name }) => seen.get(name));
      if (alone === undefined || cluster === undefined) throw new Error('a contender was not measured');
      measured.push({ alone, cluster, turnaroundMs: turnaround.perMs });
      report(
        `round ${round + 1}: p50 ${alone.p50.toFixed(2)} ms in one process, ${cluster.p50.toFixed(2)} ms in a cluster`,
      );
    }
    return { ...concluded(measured, print), natsVersion: await versionOf(nats.url) };
  } finally {
    await Promise.allSettled(nodes.map((node) => node.stop()));
    await nats.remove();
  }
}

interface Measured {
  readonly p50: number;
  readonly p99: number;
  /** CPU milliseconds for each capture, of each process. */
  readonly aloneCpuMs: readonly number[];
  readonly busyCpuMs: readonly number[];
  readonly perSecond: number;
}

interface Round {
  readonly alone: Measured;
  readonly cluster: Measured;
  readonly turnaroundMs: number;
}

async function measure(client: CaptureClient, pids: readonly number[]): Promise<Measured> {
  const alone = await withCpu(pids, () => captureAll(client, ALONE, 1));
  const busy = await withCpu(pids, () => captureAll(client, TOGETHER, AT_ONCE));
  return {
    p50: percentile(alone.value.ms, 0.5),
    p99: percentile(alone.value.ms, 0.99),
    aloneCpuMs: alone.cpuSeconds.map((seconds) => (seconds * 1000) / ALONE),
    busyCpuMs: busy.cpuSeconds.map((seconds) => (seconds * 1000) / TOGETHER),
    perSecond: 1000 / busy.value.perMs,
  };
}

function concluded(rounds: readonly Round[], print: BenchOptions['print']): Omit<DispatchCost, 'natsVersion'> {
  const over = (figure: (round: Round) => number) => median(rounds.map(figure));
  const cpu = (of: 'alone' | 'cluster', when: 'aloneCpuMs' | 'busyCpuMs', process: number) =>
    over((round) => round[of][when][process] ?? Number.NaN);
  const addedMs = {
    p50: over(({ alone, cluster }) => cluster.p50 - alone.p50),
    p99: over(({ alone, cluster }) => cluster.p99 - alone.p99),
  };
  const added = (when: 'aloneCpuMs' | 'busyCpuMs') =>
    over(({ alone, cluster }) => {
      const [api = Number.NaN, worker = Number.NaN] = cluster[when];
      return api + worker - (alone[when][0] ?? Number.NaN);
    });
  const [addedCpuMs, aloneCpuMs] = [added('busyCpuMs'), added('aloneCpuMs')];
  const busyCpuMs = {
    single: cpu('alone', 'busyCpuMs', 0),
    api: cpu('cluster', 'busyCpuMs', 0),
    worker: cpu('cluster', 'busyCpuMs', 1),
    nats: cpu('cluster', 'busyCpuMs', 2),
  };
  const turnaroundMs = over((round) => round.turnaroundMs);
  const fixed = (value: number) => value.toFixed(3);
  print(
    formatTable(
      ['stub captures', 'p50 ms', 'p99 ms', 'CPU ms alone', `CPU ms, ${AT_ONCE} at once`, 'captures/s'],
      (['alone', 'cluster'] as const).map((of) => [
        of === 'alone' ? 'one process' : 'api node, worker, nats-server',
        fixed(over((round) => round[of].p50)),
        fixed(over((round) => round[of].p99)),
        rounds[0]?.[of].aloneCpuMs.map((_, process) => fixed(cpu(of, 'aloneCpuMs', process))).join(' + ') ?? '',
        rounds[0]?.[of].busyCpuMs.map((_, process) => fixed(cpu(of, 'busyCpuMs', process))).join(' + ') ?? '',
        over((round) => round[of].perSecond).toFixed(0),
      ]),
    ),
  );
  return {
    addedMs,
    turnaroundMs,
    busyCpuMs,
    findings: [
      {
        what: 'time that a cluster adds to a stub capture, p50',
        figure: `${addedMs.p50.toFixed(2)} ms (p99 ${addedMs.p99.toFixed(2)})`,
        target: `<= ${MAX_MS} ms`,
        met: addedMs.p50 <= MAX_MS,
      },
      {
        what: `CPU that api node and worker add to a stub capture, ${AT_ONCE} at once`,
        figure: `${addedCpuMs.toFixed(2)} ms (one at a time ${aloneCpuMs.toFixed(2)})`,
        target: `<= ${MAX_CPU_MS} ms`,
        met: addedCpuMs <= MAX_CPU_MS,
      },
    ],
  };
}

interface Captured {
  readonly ms: readonly number[];
  /** Milliseconds for each capture. */
  readonly perMs: number;
}

async function captureAll({ capture }: CaptureClient, count: number, atOnce: number): Promise<Captured> {
  const ms: number[] = [];
  let left = count;
  const startedAt = performance.now();
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await capture(`https://example.com/${left}`);
      if (answer.status !== 200) throw new Error(`the stub answered ${answer.status}: ${answer.body}`);
      ms.push(answer.ms);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return { ms, perMs: (performance.now() - startedAt) / count };
}

/** CPU seconds of several processes while `work` runs. */
async function withCpu<T>(
  pids: readonly number[],
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly cpuSeconds: readonly number[] }> {
  const working = work();
  const watched = await Promise.all(pids.map((pid) => watchTree(pid, () => working)));
  return { value: await working, cpuSeconds: watched.map(({ cpuSeconds }) => cpuSeconds) };
}

async function versionOf(url: string): Promise<string> {
  const connection = await connect({ servers: url });
  const { version = 'unknown' } = connection.info ?? {};
  await connection.close();
  return version;
}
