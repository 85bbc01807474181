import { type Answer, call, queryOf } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';

/** Filters of the gallery, as written in the address bar. An empty string sets no filter. */
export interface Filters {
  /** Text to find in the title. */
  readonly text: string;
  readonly host: string;
  readonly url: string;
  readonly status: string;
  readonly outcome: string;
  readonly verdict: string;
  /** Capture options, as the API takes them: `fullPage,device=iPhone 15`. */
  readonly option: string;
  /** Local date and time, in the format of `<input type=datetime-local>`. */
  readonly from: string;
  readonly to: string;
}

const FILTER_NAMES = ['text', 'host', 'url', 'status', 'outcome', 'verdict', 'option', 'from', 'to'] as const;

export function readFilters(query: URLSearchParams): Filters {
  const textOf = (name: string) => query.get(name) ?? '';
  return {
    text: textOf('text'),
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
  return FILTER_NAMES.filter((name) => filters[name] !== '').length;
}

/** Path of the first page of the list that these filters select. */
export function listPath(
  { text, host, url, status, outcome, verdict, option, from, to }: Filters,
  limit: number,
): string {
  const common = { status, outcome, verdict, option, from: instantOf(from), to: instantOf(to), text, limit };
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
