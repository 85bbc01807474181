import { MAX_URL_CHARACTERS } from '../capture/request.ts';
import { readTarget } from '../capture/target.ts';
import { type AddressRange, hostAt, readRange, sizeOf } from './address-range.ts';

/** One line of a list: a URL with a scheme, a host, addresses, or a sitemap to read, as in `robots.txt`. */
export type Entry =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'sitemap'; readonly url: string }
  /** `rest`: the path and query, from the slash. `port`: null when the list names none. */
  | { readonly kind: 'host'; readonly host: string; readonly port: number | null; readonly rest: string }
  | { readonly kind: 'range'; readonly range: AddressRange };

type EntryReading = Entry | { readonly problem: string };

/** Ports and schemes to try at hosts for which the list names none. */
export interface Expansion {
  /** @default The port of the scheme */
  readonly ports?: readonly number[] | undefined;
  /** @default What the host has, https preferred */
  readonly schemes?: readonly ('http' | 'https')[] | undefined;
}

/** A URL to capture. `schemeAssumed`: `http://` is tried when nothing answers. */
export interface ScanTarget {
  readonly url: string;
  readonly schemeAssumed: boolean;
}

/** A host of a URL: a name, an address, or an IPv6 address in its brackets. */
const HOST = /^(?:(?=.*[a-z\d])[\w.-]+|\[.*\])$/i;

/** Reads a line of a list, without its comment. */
export function readEntry(text: string): EntryReading {
  if (text.length > MAX_URL_CHARACTERS) return { problem: `has more than ${MAX_URL_CHARACTERS} characters` };
  const [, sitemap] = /^sitemap:\s*(\S+)$/i.exec(text) ?? [];
  if (sitemap !== undefined) return readSitemapUrl(sitemap);
  const range = readRange(text);
  if (range !== undefined) return 'problem' in range ? range : { kind: 'range', range };
  if (/\s/.test(text)) return { problem: 'has blanks: give one target on each line' };
  const reading = readTarget(text);
  if (!reading.ok) return { problem: reading.problem };
  const { parsed, schemeAssumed } = reading.target;
  if (!/^https?:$/.test(parsed.protocol)) {
    return { problem: `has the scheme ${parsed.protocol.slice(0, -1)}: targets are http or https` };
  }
  // URL parsers accept a list with commas, quotes, and the wildcard of a scope as a host.
  if (!HOST.test(parsed.hostname)) {
    return { problem: `has the host ${parsed.hostname}: hosts have letters, digits, hyphens and dots` };
  }
  if (!schemeAssumed) return { kind: 'url', url: parsed.href };
  const port = portIn(text);
  const { hostname: host, pathname, search, hash } = parsed;
  return { kind: 'host', host, port, rest: `${pathname}${search}${hash}` };
}

function readSitemapUrl(text: string): EntryReading {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    return { problem: 'names a sitemap by no http:// or https:// URL' };
  return { kind: 'sitemap', url: url.href };
}

/** Returns the port that a text without a scheme names: URL parsers drop 443, which is the default of `https:`. */
function portIn(text: string): number | null {
  const [, authority = ''] = /^(?:\/\/)?([^/?#]*)/.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const [, port] = /^(?:\[[^\]]*\]|[^:]*):(\d+)/.exec(host) ?? [];
  return port === undefined ? null : Number(port);
}

/** Returns the number of targets of an entry, without expanding it; 0 for a sitemap, which was not read yet. */
export function countTargets(entry: Entry, { ports, schemes }: Expansion): bigint {
  if (entry.kind === 'url') return 1n;
  if (entry.kind === 'sitemap') return 0n;
  const perPort = BigInt(schemes?.length ?? 1);
  if (entry.kind === 'host') return entry.port === null ? perPort * BigInt(ports?.length ?? 1) : perPort;
  return sizeOf(entry.range) * perPort * BigInt(ports?.length ?? 1);
}

/** Generates the targets of an entry: those of one host together. */
export function* targetsOf(entry: Entry, expansion: Expansion): Generator<ScanTarget, void, undefined> {
  if (entry.kind === 'url') {
    yield { url: entry.url, schemeAssumed: false };
  } else if (entry.kind === 'host') {
    yield* targetsAt(entry.host, entry.port, entry.rest, expansion);
  } else if (entry.kind === 'range') {
    const size = sizeOf(entry.range);
    for (let offset = 0n; offset < size; offset += 1n)
      yield* targetsAt(hostAt(entry.range, offset), null, '/', expansion);
  }
}

function* targetsAt(
  host: string,
  port: number | null,
  rest: string,
  { ports, schemes }: Expansion,
): Generator<ScanTarget, void, undefined> {
  for (const each of port === null ? (ports ?? [null]) : [port]) {
    if (schemes === undefined) yield assumed(host, each, rest);
    else for (const scheme of schemes) yield { url: urlOf(scheme, host, each, rest), schemeAssumed: false };
  }
}

/** The ports that belong to a scheme need no guess. */
function assumed(host: string, port: number | null, rest: string): ScanTarget {
  if (port === 80) return { url: urlOf('http', host, null, rest), schemeAssumed: false };
  const url = urlOf('https', host, port === 443 ? null : port, rest);
  return { url, schemeAssumed: port !== 443 };
}

function urlOf(scheme: 'http' | 'https', host: string, port: number | null, rest: string): string {
  return `${scheme}://${host}${port === null ? '' : `:${port}`}${rest}`;
}
