import type { Run } from './runs.ts';

/** Maximum number of characters, without spaces, by which runs are compared. */
const BEGINNING = 60;
/** Number of runs within which the next selected one is expected. */
const MAX_JUMP = 200;

/**
 * Returns the numbers of the runs that a library has selected, by the runs of what it returned. Both lists have the
 * same order, by which equal texts are distinguished.
 */
export function selectedRuns(runs: readonly Run[], extracted: readonly Run[]): ReadonlySet<number> {
  const taken = new Set<number>();
  const places = new Map<string, number[]>();
  for (const [at, run] of runs.entries()) {
    const key = beginningOf(run);
    const same = places.get(key) ?? [];
    same.push(at);
    places.set(key, same);
  }
  let last = -1;
  for (const each of extracted) {
    const left = places.get(beginningOf(each)) ?? [];
    const ahead = left.findIndex((at) => at > last);
    const [at] = left.splice(Math.max(0, ahead), 1);
    if (at === undefined) continue;
    taken.add(at);
    if (ahead !== -1 && (left.length === 0 || at - last < MAX_JUMP)) last = at;
  }
  return taken;
}

const beginningOf = ({ text }: Run): string => text.replace(/ /g, '').slice(0, BEGINNING);
