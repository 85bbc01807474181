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
export function parseSearchList(resolvConf: string, hostname: string): SearchList {
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
export function candidateNames(name: string, { domains, ndots }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const completed = domains.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...completed] : [...completed, name];
}
