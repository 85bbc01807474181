import { percentile } from './statistics.ts';
import { formatTable } from './table.ts';

/** A request of one key, beside which another key is measured. */
export interface Dear {
  readonly what: string;
  readonly send: () => Promise<unknown>;
}

/** Milliseconds of the visits of another key. */
export interface Visits {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
}

/**
 * Measures a visit of another key that begins with a request, and, in turn with it, the same visit without one.
 * `rounds`: visits of each kind for each request.
 */
export async function besideRequests(
  requests: readonly Dear[],
  visit: () => Promise<void>,
  rounds: number,
  print: (text: string) => void,
): Promise<Visits> {
  const timed = async (): Promise<number> => {
    const since = performance.now();
    await visit();
    return performance.now() - since;
  };
  const all: { readonly what: string; readonly alone: readonly number[]; readonly beside: readonly number[] }[] = [];
  for (const { what, send } of requests) {
    const [alone, beside]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await timed());
      const answered = send();
      beside.push(await timed());
      await answered;
    }
    all.push({ what, alone, beside });
  }
  const sum = { alone: all.flatMap((each) => each.alone), beside: all.flatMap((each) => each.beside) };
  const rows = [...all, { what: 'all', ...sum }].map(({ what, alone, beside }) => [
    what,
    ...[0.5, 0.95].flatMap((share) => [alone, beside].map((times) => percentile(times, share).toFixed())),
  ]);
  print(formatTable(['visit beside', 'p50 alone', 'p50 beside', 'p95 alone', 'p95 beside (ms)'], rows));
  return sum;
}
