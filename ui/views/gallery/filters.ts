import type { FeedRequest, ResultConditions } from '../../../src/client/types.ts';
import { type Answer, call, queryOf } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';

/**
 * Filters of the gallery, as written in the address bar: the conditions of lists. An empty string sets no filter. Times
 * are local, in the format of `<input type=datetime-local>`.
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
    label: textOf('label'),
    held: textOf('held'),
    ...readHostFilters(textOf),
    from: textOf('from'),
    to: textOf('to'),
    scan: textOf('scan'),
  };
}

/** Filters of what the host was. */
export const HOST_FILTERS = [
  ['address', 'Address', '10.1.0.0/16'],
  ['server', 'Server', 'nginx/1.26'],
  ['poweredBy', 'Powered by', 'PHP/8'],
  ['technology', 'Technology', 'WordPress'],
  ['certificate', 'Certificate', 'example.com, or SHA-256'],
  ['certificateIssuer', 'Issuer', 'Let’s Encrypt'],
  ['certificateExpiresBefore', 'Certificate ends before', '2027-01-31'],
  ['favicon', 'Favicon', 'hash, or SHA-256'],
  ['cname', 'Alias (CNAME)', 'cdn.example.net'],
] as const satisfies readonly (readonly [keyof Filters, label: string, placeholder: string])[];

function readHostFilters(textOf: (name: string) => string) {
  return {
    address: textOf('address'),
    server: textOf('server'),
    poweredBy: textOf('poweredBy'),
    contentSecurityPolicy: textOf('contentSecurityPolicy'),
    hsts: textOf('hsts'),
    certificate: textOf('certificate'),
    certificateIssuer: textOf('certificateIssuer'),
    certificateExpiresBefore: textOf('certificateExpiresBefore'),
    favicon: textOf('favicon'),
    cname: textOf('cname'),
    technology: textOf('technology'),
  };
}

const NONE = readFilters(new URLSearchParams());

export function countOf(filters: Filters): number {
  return Object.values(filters).filter((value) => value !== '').length;
}

/** Number of filters on what the host was. */
export function countOfHost(filters: Filters): number {
  return countOf({ ...NONE, ...readHostFilters((name) => Reflect.get(filters, name)) });
}

/** Path of the first page of the list that these filters select. */
export function listPath(filters: Filters, limit: number): string {
  const { host, url, ...others } = withInstants(filters);
  const common = { ...others, limit };
  if (url !== '') return `/results/by-url${queryOf({ url, ...common })}`;
  if (host !== '') return `/results/by-host${queryOf({ host, ...common })}`;
  return `/results${queryOf(common)}`;
}

/** Path of a call that changes captures of that list together, from a cursor on. */
export function changePath(filters: Filters, cursor: string): string {
  const { host, url, ...others } = withInstants(filters);
  const chosen = url === '' ? { host } : { url };
  return `/results${queryOf({ ...chosen, ...others, limit: CHANGED_TOGETHER, cursor })}`;
}

/** Number of captures that one call changes: few enough to show progress between calls. */
const CHANGED_TOGETHER = 50;

/** Returns the source of a feed of these filters; undefined without filters. */
export function feedOf(filters: Filters): FeedRequest | undefined {
  const all = Object.entries(withInstants(filters));
  const search = Object.fromEntries(all.filter(([, value]) => value !== ''));
  const { label, scan, ...others } = search;
  if (Object.keys(search).length === 0) return undefined;
  if (Object.keys(others).length > 0 || (label !== undefined) === (scan !== undefined)) return { search };
  if (scan !== undefined) return { scan };
  return label === undefined || label.includes(',') ? { search } : { label };
}

/** Path of the groups of that list. A URL has none. */
export function groupsPath(filters: Filters, by: string, limit: number): string {
  const { url: _url, ...others } = withInstants(filters);
  return `/results/groups${queryOf({ by, ...others, limit })}`;
}

export function readPage(path: string, signal: AbortSignal): Promise<Answer<readonly Result[]>> {
  return call<readonly Result[]>(path, { signal });
}

/** Returns the filters with their times as the service takes them. */
function withInstants({ from, to, ...others }: Filters): Filters {
  return { ...others, from: instantOf(from), to: instantOf(to) };
}

function instantOf(local: string): string {
  const time = Date.parse(local);
  return Number.isNaN(time) ? local : new Date(time).toISOString();
}
