import { startHeldPages } from '../../test/cluster/held-pages.ts';
import type { BenchOptions } from '../support/bench.ts';
import type { Capture } from '../support/capture-client.ts';
import { rotated } from '../support/rounds.ts';
import { median } from '../support/statistics.ts';
import { type Finding, formatTable } from '../support/table.ts';
import { type Nodes, startNodes } from './nodes.ts';
import { startServers } from './servers.ts';

/** Numbers of workers, each with one slot. */
export const WORKERS = [1, 2, 4] as const;
/** Time after which a page answers, in milliseconds. */
export const HOLD_MS = 1_500;
/** Captures that one round measures for each worker. */
const PER_WORKER = 6;
/** Clients for each worker: one is served and one waits, so that a free slot finds a ticket. */
export const CLIENTS_PER_WORKER = 2;
const SHARE = 0.9;

export interface Scaling {
  /** Captures per second by number of workers, medians of the rounds. */
  readonly perSecond: Readonly<Record<string, number>>;
  /** Milliseconds of captures one after another, without a queue, from the request to the answer. */
  readonly aloneMs: readonly number[];
  readonly findings: readonly Finding[];
}

/** Throughput of one-slot workers on pages that answer after a while, relative to one worker. */
export async function scaling({ browserPath, rounds, print, report }: BenchOptions): Promise<Scaling> {
  await using servers = await startServers();
  await using pages = await startHeldPages(HOLD_MS);
  const clusters: { readonly workers: number; readonly nodes: Nodes; readonly rates: number[] }[] = [];
  const aloneMs: number[] = [];
  try {
    for (const workers of WORKERS) {
      const nodes = await startNodes({ servers, name: `scaling-${workers}`, workers, slots: 1, browserPath });
      clusters.push({ workers, nodes, rates: [] });
      // Starts every browser.
      await Promise.all(nodes.workers.map(() => captured(nodes.api.capture, pages.url())));
    }
    for (let round = 0; round < rounds; round++) {
      for (const { workers, nodes, rates } of rotated(clusters, round)) {
        rates.push(await rateOf(nodes.api.capture, workers, pages.url));
        report(`round ${round + 1}: ${workers} workers: ${rates.at(-1)?.toFixed(3)} captures/s`);
        if (workers === 1 && round === 0)
          for (let count = 0; count < PER_WORKER; count++) aloneMs.push(await captured(nodes.api.capture, pages.url()));
      }
    }
  } finally {
    await Promise.allSettled(clusters.map(({ nodes }) => nodes.stop()));
  }

  const [one] = clusters;
  const gains = clusters.map(({ workers, rates }) => ({
    workers,
    rate: median(rates),
    gain: median(rates.map((rate, round) => rate / (one?.rates[round] ?? Number.NaN))),
  }));
  print(
    formatTable(
      ['one-slot workers', 'captures/s', 'of one'],
      gains.map(({ workers, rate, gain }) => [String(workers), rate.toFixed(3), gain.toFixed(2)]),
    ),
  );
  return {
    perSecond: Object.fromEntries(gains.map(({ workers, rate }) => [workers, rate])),
    aloneMs,
    findings: gains.slice(1).map(({ workers, gain }) => ({
      what: `captures/s of ${workers} one-slot workers, of one worker's`,
      figure: gain.toFixed(2),
      target: `>= ${(SHARE * workers).toFixed(1)}`,
      met: gain >= SHARE * workers,
    })),
  };
}

/** Keeps every slot busy, and returns the rate between the end of the first captures and the last ones. */
async function rateOf(capture: Capture, workers: number, url: () => string): Promise<number> {
  // One for each slot before and after those that are measured, so that no slot is idle meanwhile.
  const margin = workers;
  const measured = workers * PER_WORKER;
  const endedAt: number[] = [];
  let left = margin + measured + margin;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await captured(capture, url());
      endedAt.push(performance.now());
    }
  };
  await Promise.all(Array.from({ length: workers * CLIENTS_PER_WORKER }, client));
  const [from = 0, to = 0] = [endedAt[margin - 1], endedAt[margin - 1 + measured]];
  return (measured * 1000) / (to - from);
}

async function captured(capture: Capture, url: string): Promise<number> {
  const { status, body, ms } = await capture(url, {});
  if (status !== 200) throw new Error(`capstan answered ${status}: ${body}`);
  return ms;
}
