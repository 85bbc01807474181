import { constants, getPriority, setPriority } from 'node:os';
import type { BenchOptions } from './support/bench.ts';
import { sendLoad } from './support/load-thread.ts';
import { startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { percentile } from './support/statistics.ts';
import type { Finding } from './support/table.ts';

const OVERLOAD = 10;
const OVERLOAD_SECONDS = 15;
/** Small enough that the queue fills within the first second of overload; nearly every request is then refused. */
const MAX_QUEUE = 20;
const MAX_P99_MS = 5;

/**
 * Measures how quickly requests are refused at ten times the maximum load, with every core busy: with the default priority
 * of the browsers, and with `idle`.
 */
export async function refusal(options: BenchOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const priority of ['low', 'idle']) findings.push(await refusalWith(priority, options));
  return findings;
}

async function refusalWith(priority: string, { browserPath, captures, report }: BenchOptions): Promise<Finding> {
  const site = await startBenchSite();
  const flags = ['--max-queue', String(MAX_QUEUE), '--browser-priority', priority];
  const service = await startServiceProcess({ browserPath, flags });
  let restorePriority = () => {};
  try {
    const bearable = await bearablePerSecond(service.capture, site.urls(captures));
    const perSecond = bearable * OVERLOAD;
    report(`refusal: ${bearable.toFixed(1)} captures/s at most, sending ${perSecond.toFixed(0)} requests/s`);

    restorePriority = preferThisProcess();
    const urls = site.urls(Math.round(perSecond * OVERLOAD_SECONDS));
    const { refusedMs, served } = await sendLoad({ origin: service.origin, urls, perSecond });
    const p99 = percentile(refusedMs, 0.99);
    const spread = `p50 ${percentile(refusedMs, 0.5).toFixed(2)}, max ${percentile(refusedMs, 1).toFixed(2)}`;
    const requests = `${refusedMs.length} refused, ${served} served`;
    return {
      what: `refusing at ${perSecond.toFixed(0)} requests/s, --browser-priority ${priority}, p99 (${requests})`,
      figure: `${p99.toFixed(2)} ms (${spread})`,
      target: `< ${MAX_P99_MS} ms`,
      met: p99 < MAX_P99_MS,
    };
  } finally {
    restorePriority();
    await service.stop();
    await site.stop();
  }
}

async function bearablePerSecond(
  capture: (url: string) => Promise<{ status: number }>,
  urls: readonly string[],
): Promise<number> {
  const waiting = urls.values();
  const startedAt = performance.now();
  const worker = async () => {
    for (const url of waiting) await capture(url);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return urls.length / ((performance.now() - startedAt) / 1000);
}

/**
 * Raises the priority of this process. In production the client runs on another machine, so its wait for a core of this
 * machine must not count; if the priority cannot be raised, the figure includes that wait. Threads and child processes
 * that start afterwards inherit the priority: the thread of the load does.
 */
function preferThisProcess(): () => void {
  const before = getPriority();
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
    return () => setPriority(before);
  } catch {
    return () => {};
  }
}
