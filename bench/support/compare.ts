import type { BenchOptions } from './bench.ts';
import { type Contender, interleavedRounds, type Series } from './rounds.ts';
import { median } from './statistics.ts';
import { atLeast, type Finding, formatTable } from './table.ts';

/**
 * Measures contenders in interleaved rounds, and prints a table of them. `targets`: captures a second of the first
 * contender as a share or multiple of the named one's; names of other contenders have no finding.
 */
export async function compare(
  title: string,
  contenders: readonly Contender[],
  targets: Readonly<Record<string, number>>,
  { urls, ...options }: BenchOptions & { readonly urls: readonly string[] },
): Promise<readonly Finding[]> {
  const series = await interleavedRounds(contenders, urls, options);
  const rows = series.map(({ name, concurrency, rounds }) => {
    const rates = rounds.map(({ perSecond }) => perSecond);
    return [
      name,
      String(concurrency),
      median(rates).toFixed(2),
      `${Math.min(...rates).toFixed(2)} to ${Math.max(...rates).toFixed(2)}`,
      ratioToFirst(series, name).toFixed(2),
      median(rounds.map(({ cpuSecondsPerCapture }) => cpuSecondsPerCapture)).toFixed(3),
      Math.max(...rounds.map(({ peakMiB }) => peakMiB)).toFixed(0),
    ];
  });
  const head = ['contender', 'at once', 'cap/s', 'range', 'capstan/it', 'CPU s/cap', 'peak MiB'];
  options.print(`${title}\n\n${formatTable(head, rows)}`);
  return Object.entries(targets)
    .filter(([name]) => series.some((one) => one.name === name))
    .map(([name, least]) => atLeast(`${title}: captures/s, of ${name}`, ratioToFirst(series, name), least));
}

/** Median over the rounds of the ratio between the first contender's rate and the named one's. */
function ratioToFirst(series: readonly Series[], name: string): number {
  const first = series[0]?.rounds ?? [];
  const other = series.find((one) => one.name === name)?.rounds ?? [];
  return median(first.map(({ perSecond }, round) => perSecond / (other[round]?.perSecond ?? Number.NaN)));
}
