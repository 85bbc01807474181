import type { BenchOptions } from './bench.ts';
import { watchTree } from './process-tree.ts';
import { median } from './statistics.ts';

/** A program that captures pages, and how to start it. */
export interface Contender {
  readonly name: string;
  start(): Promise<Running>;
}

/** A running contender. Disposing it leaves no process behind. */
export interface Running extends AsyncDisposable {
  /** Process id of the root of its process tree. */
  readonly pid: number;
  /**
   * Captures each URL once, `concurrency` at a time. Resolves with the number of captures. Rejects when one fails, unless
   * the contender leaves such pages out.
   */
  run(urls: readonly string[], concurrency: number): Promise<number>;
}

interface Round {
  readonly perSecond: number;
  readonly cpuSecondsPerCapture: number;
  readonly peakMiB: number;
}

/** Measurements of one contender in every round, at its best concurrency. */
export interface Series {
  readonly name: string;
  readonly concurrency: number;
  readonly rounds: readonly Round[];
}

/** `concurrencies` are tried first, to find the best one for each contender. */
type RoundsOptions = Pick<BenchOptions, 'rounds' | 'concurrencies' | 'report'>;

/**
 * Interleaved rounds: in each round every contender captures the same URLs, one contender after another, starting with
 * a different one each time. Other load on the machine affects all contenders alike, so ratios within a round are more
 * reliable than rates.
 */
export async function interleavedRounds(
  contenders: readonly Contender[],
  urls: readonly string[],
  options: RoundsOptions,
): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack();
  const entrants: Entrant[] = [];
  for (const { name, start } of contenders) entrants.push({ name, running: started.use(await start()) });
  for (const { running } of entrants) await running.run(urls.slice(0, 6), 2);

  const best = await bestConcurrencies(entrants, urls, options);
  const series = entrants.map((entrant, at) => ({ ...entrant, concurrency: best[at] ?? 1, rounds: [] as Round[] }));
  for (let round = 0; round < options.rounds; round += 1) {
    for (const { name, running, concurrency, rounds } of rotated(series, round)) {
      const measured = await measure(running, urls, concurrency);
      rounds.push(measured);
      options.report(`round ${round + 1}: ${name}: ${measured.perSecond.toFixed(2)} captures/s`);
    }
  }
  return series;
}

interface Entrant {
  readonly name: string;
  readonly running: Running;
}

async function measure(running: Running, urls: readonly string[], concurrency: number): Promise<Round> {
  const startedAt = performance.now();
  const { value, cpuSeconds, peakMiB } = await watchTree(running.pid, async () => {
    await running.run(urls, concurrency);
    return (performance.now() - startedAt) / 1000;
  });
  return { perSecond: urls.length / value, cpuSecondsPerCapture: cpuSeconds / urls.length, peakMiB };
}

/** Two short interleaved rounds for each concurrency; the better median wins. A single candidate needs no trial. */
async function bestConcurrencies(
  entrants: readonly Entrant[],
  urls: readonly string[],
  { concurrencies, report }: RoundsOptions,
): Promise<readonly number[]> {
  const [only, ...others] = concurrencies;
  if (only !== undefined && others.length === 0) return entrants.map(() => only);
  const short = urls.slice(0, Math.max(12, Math.floor(urls.length / 2)));
  const rates = entrants.map(() => new Map<number, number[]>(concurrencies.map((count) => [count, []])));
  for (const count of [...concurrencies, ...concurrencies]) {
    for (const [at, { running }] of entrants.entries()) {
      rates[at]?.get(count)?.push((await measure(running, short, count)).perSecond);
    }
  }
  return rates.map((seen, at) => {
    const ranked = [...seen].toSorted(([, a], [, b]) => median(b) - median(a));
    const figures = ranked.map(([count, own]) => `${count} at once ${median(own).toFixed(2)}/s`);
    report(`${entrants[at]?.name}: ${figures.join(', ')}`);
    return ranked[0]?.[0] ?? 1;
  });
}

/** Returns the items in the same order, starting with another one. */
export function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
