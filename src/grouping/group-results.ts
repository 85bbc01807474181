import { exactTechnology } from '../capture/finding/exact-technology.ts';
import { leaderFinder } from '../capture/finding/looks.ts';
import type { Result } from '../capture/result/result.ts';
import { LISTED_TOGETHER, pagesOf, type ResultFilter, type ResultStore } from '../storage/ports/result-store.ts';

/** Values by which results can be grouped. */
export const GROUPED_BY = ['title', 'favicon', 'technology', 'certificate', 'perception'] as const;
export type GroupedBy = (typeof GROUPED_BY)[number];

/** Maximum number of results that are counted: reading each takes a tenth of a millisecond. */
export const MAX_GROUPED = 10_000;
/** Maximum number of hosts that are counted in a group. */
const MAX_HOSTS = 1_000;

export interface Group {
  /** The value that its results have in common, as the condition of lists takes it. */
  readonly value: string;
  readonly count: number;
  /** Number of different hosts, at most 1,000. */
  readonly hosts: number;
  /** Id of the newest result. */
  readonly example: number;
}

export interface Groups {
  /** The largest groups, the largest first. */
  readonly groups: readonly Group[];
  /** Number of further groups. */
  readonly omitted: number;
  /** Number of results that were read, and of those among them that have no such value. */
  readonly results: number;
  readonly without: number;
  /** True when there are more results than were read: the newest were. */
  readonly truncated: boolean;
}

/** Groups the newest results that meet a filter. Returns at most `limit` groups. Throws the reason of `gone`. */
export async function groupResults(
  results: Pick<ResultStore, 'page'>,
  filter: ResultFilter,
  by: GroupedBy,
  limit: number,
  gone?: AbortSignal,
): Promise<Groups> {
  const groups = new Map<
    string,
    { readonly value: string; count: number; readonly hosts: Set<string>; readonly example: number }
  >();
  const valuesOf = by === 'perception' ? looksOf(leaderFinder()) : VALUES[by];
  let read = 0;
  let without = 0;
  let isTruncated = false;
  for await (const page of pagesOf(results, filter, LISTED_TOGETHER)) {
    gone?.throwIfAborted();
    if (read >= MAX_GROUPED) {
      isTruncated = true;
      break;
    }
    read += page.length;
    for (const result of page) {
      const values = valuesOf(result);
      if (values.length === 0) without += 1;
      for (const [key, value] of keyed(values, by)) {
        const group = groups.get(key) ?? { value, count: 0, hosts: new Set<string>(), example: result.id };
        group.count += 1;
        if (group.hosts.size < MAX_HOSTS) group.hosts.add(result.host);
        groups.set(key, group);
      }
    }
  }
  const largest = [...groups.values()].sort((one, other) => other.count - one.count).slice(0, limit);
  return {
    groups: largest.map(({ value, count, hosts, example }) => ({ value, count, hosts: hosts.size, example })),
    omitted: groups.size - largest.length,
    results: read,
    without,
    truncated: isTruncated,
  };
}

/** Returns each value once. The condition of software ignores case. */
function keyed(values: readonly string[], by: GroupedBy): ReadonlyMap<string, string> {
  return new Map(values.map((value) => [by === 'technology' ? value.toLowerCase() : value, value]));
}

type ValuesOf = (result: Result) => readonly string[];

const VALUES: Readonly<Record<Exclude<GroupedBy, 'perception'>, ValuesOf>> = {
  title: ({ title }) => (title.trim() === '' ? [] : [title.trim().replaceAll(/\s+/g, ' ')]),
  favicon: ({ host_facts: facts }) => (facts?.favicon ? [String(facts.favicon.hash)] : []),
  technology: ({ host_facts: facts }) => facts?.technologies.map(exactTechnology) ?? [],
  certificate: ({ host_facts: facts }) => (facts?.certificate ? [facts.certificate.sha256] : []),
};

function looksOf(leaderOf: (hash: string) => string): ValuesOf {
  return ({ perception_hash: hash }) => (hash === null ? [] : [leaderOf(hash)]);
}
