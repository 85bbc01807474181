import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import { driverContender } from './support/driver-contender.ts';
import { cpuByProcess, MAIN_THREAD } from './support/process-tree.ts';
import { sharesByPart } from './support/profile-parts.ts';
import { captureAll } from './support/service-contender.ts';
import { startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { median } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

/** CPU milliseconds a capture, by part. */
type Costs = ReadonlyMap<string, number>;

interface Contender {
  readonly name: string;
  readonly pid: number;
  run(urls: readonly string[]): Promise<unknown>;
  readonly rounds: Costs[];
}

/**
 * Shows where the CPU time of a capture goes on pages with 17 sub-resources over HTTP: by process, for the service and
 * for the bare loop in interleaved rounds; then by part of the service, for its main thread.
 */
export async function profile(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, rounds, captures, print, report } = options;
  const concurrency = Math.max(...options.concurrencies);
  const site = await startBenchSite();
  const urls = site.urls(captures, 'http');
  const service = await startServiceProcess({ browserPath });
  const ceiling = driverContender('', join(import.meta.dirname, 'ceiling.ts'), { browserPath, concurrency });
  const loop = await ceiling.start();
  const captureWith = (given: Readonly<Record<string, unknown>>) => (some: readonly string[]) =>
    captureAll(service.capture, some, concurrency, given);
  const contenders: readonly Contender[] = [
    { name: 'service', pid: service.pid, run: captureWith({}), rounds: [] },
    { name: "service, waitUntil: 'load'", pid: service.pid, run: captureWith({ waitUntil: 'load' }), rounds: [] },
    { name: 'bare loop', pid: loop.pid, run: (some) => loop.run(some, concurrency), rounds: [] },
  ];
  try {
    for (const { run } of contenders) await run(urls.slice(0, 12));
    for (let round = 1; round <= rounds; round += 1) {
      for (const { pid, run, rounds } of contenders) rounds.push(await costsOf(pid, captures, () => run(urls)));
      report(`profile: round ${round} of ${rounds}`);
    }
    print(processTable(contenders));

    let costs: Costs = new Map();
    const profiled = await service.profile(async () => {
      costs = await costsOf(service.pid, captures, () => captureAll(service.capture, urls, concurrency));
    });
    print(partTable(sharesByPart(profiled), costs.get(MAIN_THREAD) ?? 0));
    return [];
  } finally {
    await service.stop();
    await loop.stop();
    await site.stop();
  }
}

async function costsOf(pid: number, captures: number, work: () => Promise<unknown>): Promise<Costs> {
  const before = cpuByProcess(pid);
  await work();
  const after = cpuByProcess(pid);
  return new Map([...after].map(([part, seconds]) => [part, ((seconds - (before.get(part) ?? 0)) * 1000) / captures]));
}

/** Medians of the rounds. */
function processTable(contenders: readonly Contender[]): string {
  const parts = [...new Set(contenders.flatMap(({ rounds }) => rounds.flatMap((costs) => [...costs.keys()])))];
  const row = (name: string, costOf: (costs: Costs) => number): string[] => {
    const costs = contenders.map(({ rounds }) => median(rounds.map(costOf)));
    const more = (costs.at(0) ?? 0) - (costs.at(-1) ?? 0);
    return [name, ...costs.map((cost) => cost.toFixed(1)), more.toFixed(1)];
  };
  return formatTable(
    ['CPU ms a capture', ...contenders.map(({ name }) => name), 'service more than the loop'],
    [
      ...parts.map((part) => row(part, (costs) => costs.get(part) ?? 0)),
      row('together', (costs) => costs.values().reduce((sum, cost) => sum + cost, 0)),
    ],
  );
}

function partTable(shares: ReadonlyMap<string, number>, milliseconds: number): string {
  const rows = [...shares].map(([part, share]) => [part, (share * milliseconds).toFixed(1)]);
  return formatTable(
    ["the service's main thread, while profiled", 'CPU ms a capture'],
    [...rows, ['together', milliseconds.toFixed(1)]],
  );
}
