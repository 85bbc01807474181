import { percentile } from './statistics.ts';
import { formatTable } from './table.ts';

/** A request of one key, beside which another key is measured. */
export interface Dear {
  readonly what: string;
  readonly send: () => Promise<unknown>;
}

/** Visits beside one long request, as a multiple of `rounds`. */
const MAX_OF_LONG = 10;

/**
 * Measures visits of another key that begin with a request and go on while it is not answered, and, in turn with it, the
 * same visit without one, in milliseconds. `rounds`: least number of visits of each kind for each request.
 */
export async function besideRequests(
  requests: readonly Dear[],
  visit: () => Promise<void>,
  rounds: number,
  print: (text: string) => void,
) {
  const timed = async (): Promise<number> => {
    const since = performance.now();
    await visit();
    return performance.now() - since;
  };
  const all = { what: 'all', alone: [] as number[], beside: [] as number[] };
  const each = requests.map(({ what, send }) => ({ ...structuredClone(all), what, send }));
  for (const { alone, beside, send } of each) {
    while (beside.length < rounds) {
      alone.push(await timed());
      const answered = send().then(() => true);
      do beside.push(await timed());
      while (beside.length < MAX_OF_LONG * rounds && !(await Promise.race([answered, false])));
      await answered;
    }
    while (alone.length < rounds) alone.push(await timed());
    all.alone.push(...alone);
    all.beside.push(...beside);
  }
  const rows = [...each, all].map(({ what, alone, beside }) => [
    what,
    ...[0.5, 0.95].flatMap((share) => [alone, beside].map((times) => percentile(times, share).toFixed())),
  ]);
  print(formatTable(['visit beside', 'p50 alone', 'p50 beside', 'p95 alone', 'p95 beside (ms)'], rows));
  return all;
}
