import { NODATA, NOTFOUND, NOTIMP, REFUSED, SERVFAIL } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../capture/basics/error-code.ts';
import { openHostsFile, readText } from './hosts-file.ts';

/**
 * Resolves with every address of a name, in the order in which to try them. Rejects with an error whose `code` is one
 * of `node:dns`. Aborting the signal ends the lookup.
 */
export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

interface DnsLookupOptions {
  /**
   * Name servers to ask: addresses, each with or without a port. An empty list means the default.
   * @default those of /etc/resolv.conf
   */
  readonly servers?: readonly string[] | undefined;
  /** @default '/etc/hosts' */
  readonly hostsFile?: string | undefined;
  /** Source of the search domains. @default '/etc/resolv.conf' */
  readonly resolvConf?: string | undefined;
}

/** Attempts per name server; c-ares waits longer each time. */
const TRIES = 3;
/** Time limit for IPv6 addresses once those for IPv4 are known: some name servers never answer for IPv6. */
const LATE_IPV6_MS = 500;
/** Time limit for IPv4 addresses once those for IPv6 are known. Longer: on many machines IPv6 leads nowhere. */
const LATE_IPV4_MS = 3_000;
/** Error codes that do not tell whether the name exists. The next server is asked, as glibc does. */
const SERVER_FAILURES: ReadonlySet<unknown> = new Set([SERVFAIL, REFUSED, NOTIMP]);
const ABSENCES: ReadonlySet<unknown> = new Set([NOTFOUND, NODATA]);

/**
 * Looks names up in the hosts file, then over DNS with c-ares. Unlike `dns.lookup` (getaddrinfo) a lookup occupies no
 * thread and ends when its signal is aborted. `nsswitch.conf` is not read, so mDNS, LDAP and other NSS modules are not
 * asked. Both files are read again when they change.
 */
export function createDnsLookup({
  servers = [],
  hostsFile = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
}: DnsLookupOptions = {}): Lookup {
  const addressesInFile = openHostsFile(hostsFile);

  return async (name, signal) => {
    const listed = addressesInFile(name);
    if (listed.length > 0) return listed;

    let absence: unknown;
    for (const candidate of candidateNames(name, parseSearchList(readText(resolvConf), hostname()))) {
      try {
        return await askServers(candidate, servers, signal);
      } catch (error) {
        if (signal.aborted || !ABSENCES.has(codeOf(error))) throw error;
        absence ??= error;
      }
    }
    throw absence;
  };
}

/** One resolver for each name: `cancel` ends every query of a resolver, and a new resolver reads resolv.conf. */
async function askServers(name: string, servers: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      try {
        return await askBothFamilies(resolver, name);
      } catch (error) {
        const [, ...others] = resolver.getServers();
        if (signal.aborted || others.length === 0 || !SERVER_FAILURES.has(codeOf(error))) throw error;
        resolver.setServers(others);
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Resolves with the addresses of both families, alternating and IPv6 first (RFC 8305). */
async function askBothFamilies(resolver: Resolver, name: string): Promise<readonly string[]> {
  const settled = new AbortController();
  const asked = [resolver.resolve6(name).then(atLeastOne), resolver.resolve4(name).then(atLeastOne)] as const;
  const late = Promise.any([asked[0].then(() => LATE_IPV4_MS), asked[1].then(() => LATE_IPV6_MS)])
    .then((ms) => delay(ms, undefined, { signal: settled.signal }))
    .then(() => resolver.cancel());
  // `late` may reject when both queries fail or `settled` is aborted. The queries' own results in `asked` decide.
  late.catch(() => {});
  const families = await Promise.allSettled(asked);
  settled.abort();
  const [ipv6 = [], ipv4 = []] = families.map((family) => (family.status === 'fulfilled' ? family.value : []));
  if (ipv6.length + ipv4.length > 0) return byTurns(ipv6, ipv4);
  const failures = families.flatMap((family) => (family.status === 'rejected' ? [family.reason] : []));
  // Prefers an error that does not rule the name out, because the name may exist.
  throw failures.find((failure) => !ABSENCES.has(codeOf(failure))) ?? failures[0];
}

/** Rejects an empty list, with which c-ares resolves when an answer has only an alias (CNAME): it is no address. */
function atLeastOne(addresses: readonly string[]): readonly string[] {
  if (addresses.length > 0) return addresses;
  throw Object.assign(new Error('the answer has no address'), { code: NODATA });
}

function byTurns<T>(first: readonly T[], second: readonly T[]): T[] {
  return Array.from({ length: Math.max(first.length, second.length) }, (_, at) => [
    ...first.slice(at, at + 1),
    ...second.slice(at, at + 1),
  ]).flat();
}

/** Rules for completing a name before its lookup: `search`, `domain` and `ndots` of `resolv.conf(5)`. */
interface SearchList {
  readonly domains: readonly string[];
  /** Names with at least this many dots are tried unchanged before search domains are appended. */
  readonly ndots: number;
}

/** glibc's default and limit for `ndots`. */
const DEFAULT_NDOTS = 1;
const MAX_NDOTS = 15;

/** Uses the last `search` or `domain` line. Without one, the domain is that of `hostname`. */
function parseSearchList(resolvConf: string, hostname: string): SearchList {
  let domains = [hostname.split('.').slice(1).join('.')];
  let ndots = DEFAULT_NDOTS;
  for (const line of resolvConf.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search') domains = values;
    if (keyword === 'domain') domains = values.slice(0, 1);
    if (keyword !== 'options') continue;
    const given = values.map((value) => /^ndots:(\d+)$/.exec(value)?.[1]).findLast((digits) => digits !== undefined);
    if (given !== undefined) ndots = Math.min(Number(given), MAX_NDOTS);
  }
  return {
    domains: domains.map((domain) => domain.replace(/^\.+|\.+$/g, '')).filter((domain) => domain !== ''),
    ndots,
  };
}

/** Returns the names to look up for `name`, in order. A trailing dot marks a complete name. */
function candidateNames(name: string, { domains, ndots }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const completed = domains.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...completed] : [...completed, name];
}
