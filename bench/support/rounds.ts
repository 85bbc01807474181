import type { Contender, Running } from './contender.ts';
import type { Work } from './driver.ts';
import { watchTree } from './process-tree.ts';
import { median } from './statistics.ts';

export interface Round {
  readonly perSecond: number;
  readonly cpuSecondsPerCapture: number;
  readonly peakMiB: number;
  readonly work: Work;
}

export interface RoundsOptions {
  readonly rounds: number;
  /** URLs of one round. */
  readonly urls: readonly string[];
  /** Concurrency levels to try first, to find the best one for each contender. */
  readonly concurrencies: readonly number[];
  /** Prints progress. */
  readonly report: (line: string) => void;
}

/** Measurements of one contender in every round, at its best concurrency. */
export interface Series {
  readonly name: string;
  readonly concurrency: number;
  readonly rounds: readonly Round[];
}

/**
 * Interleaved rounds: in each round every contender captures the same URLs, one contender after another, starting with
 * a different one each time. Other load on the machine affects all contenders alike, so ratios within a round are more
 * reliable than rates.
 */
export async function interleavedRounds(
  contenders: readonly Contender[],
  options: RoundsOptions,
): Promise<readonly Series[]> {
  const entrants: { name: string; running: Running }[] = [];
  try {
    for (const contender of contenders) entrants.push({ name: contender.name, running: await contender.start() });
    for (const { running } of entrants) await running.run(options.urls.slice(0, 6), 2);

    const best = await bestConcurrencies(entrants, options);
    const series = entrants.map(({ name, running }, index) => ({
      name,
      running,
      concurrency: best[index] ?? 1,
      rounds: [] as Round[],
    }));
    for (let round = 0; round < options.rounds; round++) {
      for (const one of rotated(series, round)) {
        one.rounds.push(await measure(one.running, options.urls, one.concurrency));
        options.report(`round ${round + 1}: ${one.name}: ${one.rounds.at(-1)?.perSecond.toFixed(2)} captures/s`);
      }
    }
    return series;
  } finally {
    await Promise.allSettled(entrants.map(({ running }) => running.stop()));
  }
}

async function measure(running: Running, urls: readonly string[], concurrency: number): Promise<Round> {
  const startedAt = performance.now();
  let seconds = Number.NaN;
  const { value, cpuSeconds, peakMiB } = await watchTree(running.pid, async () => {
    const work = await running.run(urls, concurrency);
    seconds = (performance.now() - startedAt) / 1000;
    return work;
  });
  return { perSecond: urls.length / seconds, cpuSecondsPerCapture: cpuSeconds / urls.length, peakMiB, work: value };
}

/** Two short interleaved rounds for each concurrency; the better median wins. A single candidate needs no trial. */
async function bestConcurrencies(
  entrants: readonly { name: string; running: Running }[],
  { urls, concurrencies, report }: RoundsOptions,
): Promise<readonly number[]> {
  const [only, ...others] = concurrencies;
  if (only !== undefined && others.length === 0) return entrants.map(() => only);
  const short = urls.slice(0, Math.max(12, Math.floor(urls.length / 2)));
  const rates = entrants.map(() => new Map<number, number[]>());
  for (let pass = 0; pass < 2; pass++) {
    for (const concurrency of concurrencies) {
      for (const [index, { running }] of entrants.entries()) {
        const { perSecond } = await measure(running, short, concurrency);
        const seen = rates[index]?.get(concurrency) ?? [];
        rates[index]?.set(concurrency, [...seen, perSecond]);
      }
    }
  }
  return rates.map((byConcurrency, index) => {
    const ranked = [...byConcurrency].toSorted(([, a], [, b]) => median(b) - median(a));
    report(
      `${entrants[index]?.name}: ${ranked.map(([count, seen]) => `${count} at once ${median(seen).toFixed(2)}/s`).join(', ')}`,
    );
    return ranked[0]?.[0] ?? 1;
  });
}

/** Returns the items in the same order, starting with another one. */
export function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
