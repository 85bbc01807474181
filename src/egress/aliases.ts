import { Resolver } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { openHostsFile } from './hosts-file.ts';

/** Resolves with the names that follow a name in its chain of aliases (CNAME); never rejects. */
export type AliasLookup = (name: string, withinMs: number) => Promise<readonly string[]>;

interface AliasLookupOptions {
  /** Name servers to ask. @default those of /etc/resolv.conf */
  readonly servers?: readonly string[];
  /** @default '/etc/hosts' */
  readonly hostsFile?: string;
}

const MAX_ALIASES = 8;
const CACHE_MS = 60_000;
const MAX_CACHED_NAMES = 2_000;

/**
 * Asks the name servers for the chain that they have just followed, because c-ares does not tell it with the addresses.
 * Names of the hosts file, and names without a dot, have none.
 */
export function createAliasLookup({ servers = [], hostsFile = '/etc/hosts' }: AliasLookupOptions = {}): AliasLookup {
  const addressesInFile = openHostsFile(hostsFile);
  const known = new LRUCache<string, readonly string[]>({ max: MAX_CACHED_NAMES, ttl: CACHE_MS });

  return async (name, withinMs) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    if (withinMs <= 0 || !name.includes('.') || addressesInFile(name).length > 0) return [];
    const resolver = new Resolver({ timeout: withinMs, tries: 1 });
    if (servers.length > 0) resolver.setServers(servers);
    const late = setTimeout(() => resolver.cancel(), withinMs);
    const chain: string[] = [];
    let isCut = false;
    for (let at = name; chain.length < MAX_ALIASES; ) {
      const [next] = await resolver.resolveCname(at).catch((error: NodeJS.ErrnoException) => {
        isCut = error.code !== 'ENODATA' && error.code !== 'ENOTFOUND';
        return [];
      });
      if (next === undefined || next === name || chain.includes(next)) break;
      chain.push(next);
      at = next;
    }
    clearTimeout(late);
    if (!isCut) known.set(name, chain);
    return chain;
  };
}
