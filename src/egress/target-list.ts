import { type Cidr, mappedIpv4, parseAddress, parseCidr } from './address-classes.ts';

/** Length of the prefix `::ffff:0:0/96`, behind which an IPv6 address has an IPv4 address. */
const MAPPED_BITS = 96;

/** One entry of `--allow-targets` or `--deny-targets`. */
export type TargetEntry =
  | { readonly kind: 'network'; readonly cidr: Cidr; readonly text: string }
  /** A name; with `subdomains`, its subdomains without the name itself. Lower case, punycode, no trailing dot. */
  | { readonly kind: 'name'; readonly name: string; readonly subdomains: boolean; readonly text: string };

const ACCEPTED_FORMS =
  'an address (10.1.2.3, fd00::1), a network (10.0.0.0/8, fd00::/8), a name (wiki.example.internal) ' +
  'or every name below one (*.example.internal)';

/**
 * Parses a list of targets, given as one text with commas between the entries or as several such texts, and returns the
 * canonical entries. Throws an `Error` that names the first bad entry and the accepted forms.
 */
export function parseTargetList(list: string | readonly string[]): string[] {
  return readTargetList(list).map((entry) => entry.text);
}

/** Parses a list of targets into the entries that the policy compares. */
export function readTargetList(list: string | readonly string[]): TargetEntry[] {
  const texts = typeof list === 'string' ? [list] : list;
  return texts
    .flatMap((text) => text.split(/[\s,]+/))
    .filter((text) => text !== '')
    .map(readTargetEntry);
}

function readTargetEntry(entry: string): TargetEntry {
  const bare = entry.replace(/^\[([^\]]*)\](?=$|\/)/, '$1');
  const cidr = parseCidr(bare);
  if (cidr) {
    const [network, bits] = asIpv4(cidr);
    return { kind: 'network', cidr: [network, bits], text: `${network.toString()}/${bits}` };
  }
  if (bare.includes('/')) {
    throw badEntry(entry, entry.includes('://') ? 'leave the scheme and the path out' : 'that is not a network');
  }
  const given = parseAddress(bare);
  if (given) {
    const address = mappedIpv4(given) ?? given;
    return { kind: 'network', cidr: [address, address.kind() === 'ipv4' ? 32 : 128], text: address.toString() };
  }
  if (bare === '*') throw badEntry(entry, 'for every address, give 0.0.0.0/0 and ::/0');
  if (/^(\[.*\]|[^:]*):\d+$/.test(entry)) throw badEntry(entry, 'leave the port out: an entry applies to every port');

  const subdomains = /^\*?\./.test(bare);
  const name = canonicalName(bare.replace(/^\*?\./, ''));
  if (name === null) throw badEntry(entry);
  return { kind: 'name', name, subdomains, text: subdomains ? `*.${name}` : name };
}

/** Returns the IPv4 network that an IPv4-mapped one stands for: both reach the same hosts. Others stay as they are. */
function asIpv4([network, bits]: Cidr): Cidr {
  const ipv4 = bits < MAPPED_BITS ? null : mappedIpv4(network);
  return ipv4 === null ? [network, bits] : [ipv4, bits - MAPPED_BITS];
}

/** Returns the canonical name for comparison, or null when it is not a name (`127.1` is an address). */
function canonicalName(name: string): string | null {
  if (!/^[^\s/?#@:[\]\\%*]+$/.test(name)) return null;
  const hostname = URL.parse(`http://${name}/`)?.hostname ?? '';
  const canonical = withoutTrailingDot(hostname);
  return canonical === '' || canonical.split('.').includes('') || parseAddress(canonical) ? null : canonical;
}

/** A trailing dot only marks a complete name: `localhost.` is `localhost`. */
export function withoutTrailingDot(name: string): string {
  return name.replace(/\.+$/, '');
}

function badEntry(entry: string, hint?: string): Error {
  return new Error(`"${entry}" is not a target${hint ? `: ${hint}` : ''}. Give ${ACCEPTED_FORMS}.`);
}
