import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = readonly [IpAddress, number];

/** All that IANA has given out for the public IPv6 network; whatever lies outside is special or nobody's. */
const GLOBAL_UNICAST_V6: [ipaddr.IPv6, number] = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Addresses that look public and lead into the operator's own cloud account. The other metadata services live on
 * link-local, unique local, shared or protocol-assignment addresses, which are closed by their class.
 */
const CLOUD_METADATA: readonly Cidr[] = [
  // Azure: WireServer, DNS and health probes.
  ipaddr.parseCIDR('168.63.129.16/32'),
];

/** Names of the classes as people know them; `ipaddr.js` speaks camelCase and RFC numbers. */
const CLASS_NAMES: Readonly<Record<string, string>> = {
  linkLocal: 'link-local',
  carrierGradeNat: 'shared (carrier-grade NAT)',
  uniqueLocal: 'unique local',
  ipv4Mapped: 'IPv4-mapped',
  rfc6145: 'IPv4-translated',
  rfc6052: 'NAT64',
  teredo: 'Teredo',
  deprecatedSiteLocal: 'site-local',
  as112: 'AS112',
  as112v6: 'AS112',
  amt: 'multicast tunnelling',
  deprecatedOrchid: 'ORCHID',
  orchid2: 'ORCHID',
  droneRemoteIdProtocolEntityTags: 'drone identity',
  segmentRouting: 'segment routing',
};

/** An address in any spelling that a resolver or a URL gives (no brackets; a zone id is fine), or null. */
export function parseAddress(text: string): IpAddress | null {
  const spelling = hexadecimal(text);
  if (ipaddr.IPv6.isValid(spelling)) return ipaddr.IPv6.parse(spelling);
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
}

export function parseCidr(text: string): Cidr | null {
  const spelling = hexadecimal(text);
  if (ipaddr.IPv6.isValidCIDR(spelling)) return ipaddr.IPv6.parseCIDR(spelling);
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) ? ipaddr.IPv4.parseCIDR(text) : null;
}

/** `ipaddr.js` takes `::10.0.0.1`, the IPv4-compatible address that resolvers print so, for the IPv4-mapped one. */
function hexadecimal(text: string): string {
  const [compatible, ipv4 = '', rest = ''] = /^::(\d+\.\d+\.\d+\.\d+)([%/].*)?$/.exec(text) ?? [];
  if (compatible === undefined || !ipaddr.IPv4.isValidFourPartDecimal(ipv4)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(ipv4).octets;
  return `::${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}${rest}`;
}

/** The class that keeps an address out of the public network (`loopback`, `private`, `6to4`...); null: it is public. */
export function nonPublicClass(address: IpAddress): string | null {
  if (CLOUD_METADATA.some((cidr) => matches(address, cidr))) return 'cloud metadata';
  const range = address.range();
  if (range !== 'unicast') return CLASS_NAMES[range] ?? range;
  if (isIsatap(address)) return 'ISATAP';
  if (address.kind() === 'ipv4' || matches(address, GLOBAL_UNICAST_V6)) return null;
  return isIpv4Compatible(address) ? 'IPv4-compatible' : 'reserved';
}

/** RFC 5214, 6.1: an interface id that carries an IPv4 address, behind a prefix of any kind. */
function isIsatap(address: IpAddress): boolean {
  if (!isIpv6(address)) return false;
  const [, , , , high = 0, low = 0] = address.parts;
  // The bits for "universal" and "group" may be set or not.
  return (high & 0xfcff) === 0 && low === 0x5efe;
}

export function matches(address: IpAddress, [network, bits]: Cidr): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/**
 * The same host under another spelling: the IPv4 address that an IPv4-mapped IPv6 address is. Dialling one dials the
 * other.
 */
export function mappedIpv4(address: IpAddress): ipaddr.IPv4 | null {
  return isIpv6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : null;
}

/** Every IPv4 address that an IPv6 address carries inside and may be translated to on its way. */
export function embeddedIpv4(address: IpAddress): readonly ipaddr.IPv4[] {
  if (!isIpv6(address)) return [];
  const bytes = address.toByteArray();
  switch (address.range()) {
    case '6to4':
      return [new ipaddr.IPv4(bytes.slice(2, 6))];
    case 'teredo':
      return [new ipaddr.IPv4(bytes.slice(4, 8)), new ipaddr.IPv4(bytes.slice(12, 16).map((byte) => byte ^ 0xff))];
    case 'ipv4Mapped':
    case 'rfc6145':
    case 'rfc6052':
      return [new ipaddr.IPv4(bytes.slice(12, 16))];
    default:
      return isIpv4Compatible(address) || isIsatap(address) ? [new ipaddr.IPv4(bytes.slice(12, 16))] : [];
  }
}

function isIpv6(address: IpAddress): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

function isIpv4Compatible(address: IpAddress): boolean {
  return isIpv6(address) && address.parts.slice(0, 6).every((part) => part === 0);
}
