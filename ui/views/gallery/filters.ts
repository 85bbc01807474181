import type { ResultConditions } from '../../../src/client/types.ts';
import { type Answer, call, queryOf } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';

/**
 * Filters of the gallery, as written in the address bar: the conditions of lists. An empty string sets no filter. Times are
 * local, in the format of `<input type=datetime-local>`.
 */
export type Filters = Readonly<Record<keyof ResultConditions, string>>;

export function readFilters(query: URLSearchParams): Filters {
  const textOf = (name: string) => query.get(name) ?? '';
  return {
    text: textOf('text'),
    words: textOf('words'),
    host: textOf('host'),
    url: textOf('url'),
    status: textOf('status'),
    outcome: textOf('outcome'),
    verdict: textOf('verdict'),
    option: textOf('option'),
    from: textOf('from'),
    to: textOf('to'),
  };
}

export function countOf(filters: Filters): number {
  return Object.values(filters).filter((value) => value !== '').length;
}

/** Path of the first page of the list that these filters select. */
export function listPath({ host, url, from, to, ...others }: Filters, limit: number): string {
  const common = { ...others, from: instantOf(from), to: instantOf(to), limit };
  if (url !== '') return `/results/by-url${queryOf({ url, ...common })}`;
  if (host !== '') return `/results/by-host${queryOf({ host, ...common })}`;
  return `/results${queryOf(common)}`;
}

export function readPage(path: string, signal: AbortSignal): Promise<Answer<readonly Result[]>> {
  return call<readonly Result[]>(path, { signal });
}

function instantOf(local: string): string {
  const time = Date.parse(local);
  return Number.isNaN(time) ? local : new Date(time).toISOString();
}
