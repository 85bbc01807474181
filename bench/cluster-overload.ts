import { setTimeout as delay } from 'node:timers/promises';
import { startHeldPages } from '../test/cluster/held-pages.ts';
import { captureBatch } from '../test/faults/client.ts';
import type { BenchOptions } from './support/bench.ts';
import { startBenchCluster } from './support/cluster.ts';
import type { Finding } from './support/table.ts';

const OVERLOAD = 5;
const BATCH = 200;
/** Elements of the batch that measures the maximum rate. */
const MEASURED = 40;

/**
 * Sends a batch to one api node while two others receive five times as many single captures as the workers can do.
 * Needs NATS and MongoDB.
 */
export async function clusterOverload({ report }: BenchOptions): Promise<readonly Finding[]> {
  await using cluster = await startBenchCluster();
  await using pages = await startHeldPages(0);
  const urls = (count: number) => Array.from({ length: count }, () => pages.url());
  const limits = ['--cluster-max-concurrent', '4', '--max-queue', '16', '--max-batch', '200', '--timeout-ms', '60000'];
  const first = await cluster.start('api', ...limits);
  const others = [await cluster.start('api', ...limits), await cluster.start('api', ...limits)];
  await cluster.start('worker', '--max-concurrent', '2');
  await cluster.start('worker', '--max-concurrent', '2');
  await captureBatch(first.url, urls(4), 4);

  const startedAt = performance.now();
  await captureBatch(first.url, urls(MEASURED), 4);
  const bearable = (MEASURED * 1_000) / (performance.now() - startedAt);
  report(`cluster-overload: ${bearable.toFixed(1)} captures/s are bearable`);

  const statuses: number[] = [];
  const hangUp = new AbortController();
  const send = async (origin: string): Promise<void> => {
    const body = JSON.stringify({ url: pages.url() });
    const headers = { 'content-type': 'application/json' };
    const { signal } = hangUp;
    const answer = await fetch(`${origin}/screenshot`, { method: 'POST', headers, body, signal }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer !== undefined) statuses.push(answer.status);
  };
  const singles: Promise<void>[] = [];
  const flood = async (): Promise<void> => {
    while (!hangUp.signal.aborted) {
      const origin = others[singles.length % others.length]?.url;
      if (origin !== undefined) singles.push(send(origin));
      await delay(1_000 / (bearable * OVERLOAD));
    }
  };
  const flooding = flood();
  while (!statuses.includes(429)) await delay(10);
  statuses.length = 0;
  const floodedAt = performance.now();
  const elements = await captureBatch(first.url, urls(BATCH), 4);
  const seconds = (performance.now() - floodedAt) / 1_000;
  const served = statuses.filter((status) => status === 200).length;
  const refused = statuses.filter((status) => status === 429).length;
  hangUp.abort();
  await Promise.all([flooding, ...singles]);

  const stored = elements.filter(({ code, result }) => code === '' && result !== null).length;
  return [
    {
      what: `batch of ${BATCH} during ${OVERLOAD} times as many single captures as the workers can do: stored`,
      figure: `${stored}, in ${seconds.toFixed(0)} s (${served} single captures stored, ${refused} refused)`,
      target: `${BATCH}, and single captures too`,
      met: stored === BATCH && served > 0,
    },
  ];
}
