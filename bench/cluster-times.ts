import { setTimeout as delay } from 'node:timers/promises';
import { type HeldPages, startHeldPages } from '../test/cluster/held-pages.ts';
import type { Served } from '../test/commands/capstan-process.ts';
import type { BenchOptions } from './support/bench.ts';
import { type BenchCluster, startBenchCluster, until, workersOf } from './support/cluster.ts';
import { percentile } from './support/statistics.ts';
import type { Finding } from './support/table.ts';

const MS = { refused: 100, returned: 3_000, queued: 250, running: 1_000, dead: 12_000 };
type Times = Readonly<Record<keyof typeof MS, number[]>>;
/** Requests while NATS is away, in each round. */
const REFUSALS = 10;
/** Rounds in which a worker is killed: each takes more than 10 s. */
const MAX_KILLS = 5;

/**
 * Measures the times that a cluster promises: how soon captures are refused while NATS is away and made again after its
 * return, how soon the place of a client that hangs up is free, and how soon another worker starts a killed worker's
 * capture. Needs NATS and MongoDB.
 */
export async function clusterTimes({ rounds, report }: BenchOptions): Promise<readonly Finding[]> {
  await using cluster = await startBenchCluster();
  await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
  const one = await cluster.start('api', '--cluster-max-concurrent', '1', '--max-queue', '5');
  const two = await cluster.start('api');
  const worker = await cluster.start('worker', '--max-concurrent', '1');
  const parts = { cluster, pages, one, two };
  await until(async () => (await workersOf(one.url)) === 1 && (await workersOf(two.url)) === 1);
  report('cluster-times: a first capture');
  await onePage(parts);

  const times: Times = { refused: [], returned: [], queued: [], running: [], dead: [] };
  for (let round = 1; round <= rounds; round += 1) {
    await hangUp(parts, times);
    await leave(parts, times);
    report(`cluster-times: round ${round} of ${rounds}, ms: ${newest(times)}`);
  }
  let victim = worker;
  for (let round = 1; round <= Math.min(rounds, MAX_KILLS); round += 1) {
    victim = await kill(parts, times, victim);
    report(`cluster-times: kill ${round}, ms: ${newest(times)}`);
  }
  return [
    finding('refused while NATS is away', times.refused, MS.refused),
    finding('page requested again after the return of NATS', times.returned, MS.returned),
    finding('place of a queued capture free after hang-up', times.queued, MS.queued),
    finding("page of another node's capture requested after hang-up of a running one", times.running, MS.running),
    finding("page of a killed worker's capture requested again", times.dead, MS.dead),
  ];
}

interface Parts {
  readonly cluster: BenchCluster;
  readonly pages: HeldPages;
  readonly one: Served;
  readonly two: Served;
}

/** Sends a capture. Resolves with the status of its answer; 0 when the connection breaks. */
async function submit(node: Served, url: string, signal: AbortSignal | null = null): Promise<number> {
  const body = JSON.stringify({ url, timeoutMs: 60_000 });
  const headers = { 'content-type': 'application/json' };
  try {
    const answer = await fetch(`${node.url}/screenshot`, { method: 'POST', headers, body, signal });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return 0;
  }
}

async function onePage({ cluster, pages, one }: Parts): Promise<void> {
  const answer = submit(one, pages.url());
  await until(() => pages.waiting === 1);
  pages.hold(0);
  await answer;
  pages.hold(Number.POSITIVE_INFINITY);
  await until(async () => (await cluster.tickets()) === 0);
}

/** The clients of a queued capture and of a running one hang up. */
async function hangUp({ cluster, pages, one, two }: Parts, times: Times): Promise<void> {
  const [running, queued, next] = [new AbortController(), new AbortController(), new AbortController()];
  const answers = [submit(one, pages.url(), running.signal)];
  await until(() => pages.waiting === 1);
  answers.push(submit(one, pages.url(), queued.signal));
  await until(async () => (await cluster.tickets()) === 2);
  queued.abort();
  times.queued.push(await until(async () => (await cluster.tickets()) === 1));
  answers.push(submit(two, pages.url(), next.signal));
  await until(async () => (await cluster.tickets()) === 2);
  const { requested } = pages;
  running.abort();
  times.running.push(await until(() => pages.requested > requested));
  next.abort();
  await Promise.all(answers);
  await until(async () => (await cluster.tickets()) === 0 && pages.waiting === 0);
}

/** NATS is killed, and started again. */
async function leave({ cluster, pages, one, two }: Parts, times: Times): Promise<void> {
  await cluster.nats.kill();
  for (let count = 0; count < REFUSALS; count += 1) {
    const startedAt = performance.now();
    const status = await submit(one, pages.url());
    if (status !== 503) throw new Error(`a capture was answered ${status} while NATS was away`);
    times.refused.push(performance.now() - startedAt);
  }
  await cluster.nats.start();
  const { requested } = pages;
  const hangUp = new AbortController();
  const resubmit = async (): Promise<void> => {
    while ((await submit(one, pages.url(), hangUp.signal)) === 503) await delay(10);
  };
  const answer = resubmit();
  times.returned.push(await until(() => pages.requested > requested));
  hangUp.abort();
  await answer;
  await until(async () => (await fetch(`${two.url}/readyz/any`)).ok);
  await until(async () => (await cluster.tickets()) === 0 && pages.waiting === 0);
}

/** The worker that runs a capture is killed while another one is idle. Resolves with that one. */
async function kill({ cluster, pages, one }: Parts, times: Times, victim: Served): Promise<Served> {
  const hangUp = new AbortController();
  const answer = submit(one, pages.url(), hangUp.signal);
  await until(() => pages.waiting === 1);
  const other = await cluster.start('worker', '--max-concurrent', '1');
  await until(async () => (await workersOf(one.url)) === 2);
  const { requested } = pages;
  victim.child.kill('SIGKILL');
  times.dead.push(await until(() => pages.requested > requested));
  hangUp.abort();
  await answer;
  await until(async () => (await cluster.tickets()) === 0 && (await workersOf(one.url)) === 1);
  return other;
}

function newest(times: Times): string {
  return Object.entries(times)
    .map(([name, all]) => `${name} ${Math.round(all.at(-1) ?? Number.NaN)}`)
    .join(', ');
}

function finding(what: string, times: readonly number[], target: number): Finding {
  const worst = Math.max(...times);
  const figure = `p50 ${percentile(times, 0.5).toFixed(0)} ms, worst of ${times.length}: ${worst.toFixed(0)} ms`;
  return { what, figure, target: `${target} ms`, met: worst <= target };
}
