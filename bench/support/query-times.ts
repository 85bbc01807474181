import { percentile } from './statistics.ts';
import type { StoreQuery } from './store-queries.ts';
import { formatTable } from './table.ts';

/** Milliseconds of queries, by their kind. */
export type QueryTimes = ReadonlyMap<string, readonly number[]>;

/** Asks each query, after some of them have filled the caches. */
export async function timesOf(
  queries: readonly StoreQuery[],
  ask: (query: StoreQuery) => Promise<unknown>,
): Promise<QueryTimes> {
  for (const query of queries.slice(0, 100)) await ask(query);
  const times = new Map<string, number[]>();
  for (const query of queries) {
    const began = performance.now();
    await ask(query);
    times.set(query.kind, [...(times.get(query.kind) ?? []), performance.now() - began]);
  }
  return times;
}

export function timesTable(title: string, times: Iterable<readonly [kind: string, ms: readonly number[]]>): string {
  const shares = [0.5, 0.99, 1];
  const rows = [...times].map(([kind, ms]) => [kind, ...shares.map((share) => percentile(ms, share).toFixed(2))]);
  return formatTable([title, 'p50 ms', 'p99 ms', 'longest ms'], rows);
}
