import { readFileSync, statSync } from 'node:fs';
import { parseAddress } from './address-classes.ts';
import { withoutTrailingDot } from './target-list.ts';

/** Returns every address of a name in the hosts file, in the order of the lines; empty when the name is not listed. */
type HostsFile = (name: string) => readonly string[];

/**
 * Reads a hosts file (`hosts(5)`), and reads it again when it has changed. A missing or unreadable file counts as
 * empty.
 */
export function openHostsFile(path: string): HostsFile {
  let version = '';
  let addresses: ReadonlyMap<string, readonly string[]> = new Map();

  return (name) => {
    const current = versionOf(path);
    if (current !== version) {
      addresses = parseHosts(readText(path));
      version = current;
    }
    return addresses.get(canonical(name)) ?? [];
  };
}

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    if (parseAddress(address) === null) continue;
    for (const name of new Set(names.map(canonical))) addresses.set(name, [...(addresses.get(name) ?? []), address]);
  }
  return addresses;
}

function canonical(name: string): string {
  return withoutTrailingDot(name.toLowerCase());
}

function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

/** Returns an empty text when the file cannot be read: a name server may still know the name. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
