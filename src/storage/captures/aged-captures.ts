import { NO_MARKS } from '../../capture/finding/marks.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { pagesOf, type ResultStore, type RetainedBy } from '../ports/result-store.ts';
import { firstIdAt, timeOfId } from '../records/ids.ts';

/*
 * Finds the captures that are too old, by their own marks. Those that are kept although they are old (held, or with a
 * label of a greater age) are not looked at in each pass: they are judged again after an hour.
 */

/** Number of records that are read at once, and removed in one step. */
export const RECORDS_TOGETHER = 32;
const DAY_MS = 86_400_000;
/** Number of captures whose marks are read at once. */
const JUDGED_TOGETHER = 100;
/** Time until captures that were kept are judged again, in milliseconds. */
const JUDGED_AGAIN_MS = 3_600_000;

/** Maximum ages in days. */
export interface MaxAges {
  /** Of captures without one of the labels; null: unlimited. */
  readonly days: number | null;
  /** Of captures with a label; of several, the greatest counts. */
  readonly ofLabels: ReadonlyMap<string, number>;
}

export interface AgedCapturesOptions {
  readonly limits: MaxAges;
  readonly artifacts: Pick<ArtifactStore, 'oldestAfter'>;
  readonly results: Pick<ResultStore, 'kind' | 'oldest' | 'marked' | 'page'>;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
}

export function createAgedCaptures({ limits, artifacts, results, clock, elapsed }: AgedCapturesOptions) {
  /** Captures below these ids were removed or kept by this process; by label, `null` for all captures. */
  const judged = new Map<string | null, number>();
  let judgedAllAt = Number.NEGATIVE_INFINITY;
  /** Whether captures were kept by their marks since all were judged. */
  let hasKept = false;

  /** Whether retention keeps a capture with these marks, at its age. */
  function keeps(id: number, { labels, hold }: RetainedBy): boolean {
    if (hold !== null) return true;
    const ofLabels = labels.map((label) => limits.ofLabels.get(label)).filter((days) => days !== undefined);
    const days = ofLabels.length === 0 ? limits.days : Math.max(...ofLabels);
    return days === null || id >= oldestKept(days);
  }

  /** The smallest id that is young enough. */
  function oldestKept(days: number): number {
    return firstIdAt(new Date(clock() - days * DAY_MS));
  }

  /** Leaves out captures that are kept by their marks. */
  async function* removable(ids: AsyncIterable<number>, isKept = keeps): AsyncGenerator<number> {
    if (results.kind === 'none') return yield* ids;
    for await (const together of inGroups(ids)) {
      const marked = await results.marked(together);
      const chosen = together.filter((id) => !isKept(id, marked.get(id) ?? NO_MARKS));
      hasKept ||= chosen.length < together.length;
      yield* chosen;
    }
  }

  /** Ids of captures that are too old: those with files, the records of failed ones, and those of labels. */
  function ids(): readonly AsyncIterable<number>[] {
    const { days } = limits;
    const ofAll = (limit: number) => {
      const [after, before] = [judged.get(null) ?? 0, oldestKept(limit)];
      const records = recordIds(before, RECORDS_TOGETHER, after);
      return [removable(below(before, artifacts.oldestAfter(after))), removable(records)];
    };
    const sooner = [...limits.ofLabels].filter(([, limit]) => days === null || limit < days);
    return [...(days === null ? [] : ofAll(days)), ...sooner.map(([label, limit]) => labelledIds(label, limit))];
  }

  async function* labelledIds(label: string, days: number): AsyncGenerator<number> {
    const before = oldestKept(days);
    const [from, to] = [timeOfId(judged.get(label) ?? 0), timeOfId(before)].map((time) => time.toISOString());
    const pages = pagesOf(results, { by: 'all', where: { label: [label], from, to } }, JUDGED_TOGETHER);
    for await (const page of pages) {
      const chosen = page.filter(({ id, ...marks }) => id < before && !keeps(id, marks));
      hasKept ||= chosen.length < page.length;
      yield* chosen.map(({ id }) => id);
    }
  }

  /** Ids of records, smallest first. */
  async function* recordIds(before: number, together: number, first = 0): AsyncGenerator<number> {
    if (results.kind === 'none') return;
    for (let after = first; ; ) {
      const ids = await results.oldest(together, before, after);
      const last = ids.at(-1);
      if (last === undefined) return;
      yield* ids;
      after = last;
    }
  }

  /** Begins a pass. Call the returned function when it has removed all that it may. */
  function begin(): () => void {
    const isAll = elapsed() - judgedAllAt >= JUDGED_AGAIN_MS;
    if (isAll) {
      judged.clear();
      hasKept = false;
    }
    const ages = [...(limits.days === null ? [] : [[null, limits.days] as const]), ...limits.ofLabels];
    const reached = ages.map(([label, days]) => [label, oldestKept(days)] as const);
    return () => {
      // If no capture was kept, the next pass has nothing to skip.
      if (!hasKept) return;
      if (isAll) judgedAllAt = elapsed();
      for (const [label, id] of reached) judged.set(label, id);
    };
  }

  return { begin, ids, removable, recordIds };
}

async function* inGroups(ids: AsyncIterable<number>): AsyncGenerator<readonly number[]> {
  let group: number[] = [];
  for await (const id of ids) {
    group.push(id);
    if (group.length < JUDGED_TOGETHER) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** The ids below a bound, of ids in ascending order. */
export async function* below(before: number, ids: AsyncIterable<number>): AsyncGenerator<number> {
  for await (const id of ids) {
    if (id >= before) return;
    yield id;
  }
}
