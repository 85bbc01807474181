import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = readonly [IpAddress, number];

/** The public IPv6 network. Addresses outside it are special or unassigned. */
const GLOBAL_UNICAST_V6: Cidr = ipaddr.IPv6.parseCIDR('2000::/3');

/** Blocks of the public IPv6 network that IANA has not assigned: a route to them leads to a private network. */
const RESERVED_V6: readonly Cidr[] = ['2d00::/8', '2e00::/7', '3000::/4'].map((block) => ipaddr.IPv6.parseCIDR(block));

/** 6bone test network, returned to IANA in 2006 (RFC 3701). Old private networks may still use its addresses. */
const SIXBONE: Cidr = ipaddr.IPv6.parseCIDR('3ffe::/16');

/**
 * Public addresses that lead into the operator's own cloud account. The other metadata services have link-local, unique
 * local, shared or protocol-assignment addresses, which are refused by their class.
 */
const CLOUD_METADATA: readonly Cidr[] = [
  // Azure: WireServer, DNS and health probes.
  ipaddr.parseCIDR('168.63.129.16/32'),
];

/** Readable names of the address classes; `ipaddr.js` itself names them in camelCase or by RFC number. */
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

/** Parses an address as resolvers and URLs spell it (without brackets; a zone id is accepted). Null when invalid. */
export function parseAddress(text: string): IpAddress | null {
  const spelling = hexadecimal(text);
  if (ipaddr.IPv6.isValid(spelling)) return ipaddr.IPv6.parse(spelling);
  // The regular expression comes first, because `isValidFourPartDecimal` throws internally for every name.
  return /^[\d.]+$/.test(text) && ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
}

export function parseCidr(text: string): Cidr | null {
  const spelling = hexadecimal(text);
  if (ipaddr.IPv6.isValidCIDR(spelling)) return ipaddr.IPv6.parseCIDR(spelling);
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) ? ipaddr.IPv4.parseCIDR(text) : null;
}

/** Rewrites the IPv4-compatible `::10.0.0.1`, which `ipaddr.js` mistakes for an IPv4-mapped address. */
function hexadecimal(text: string): string {
  const [compatible, ipv4 = '', rest = ''] = /^::(\d+\.\d+\.\d+\.\d+)([%/].*)?$/.exec(text) ?? [];
  if (compatible === undefined || !ipaddr.IPv4.isValidFourPartDecimal(ipv4)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(ipv4).octets;
  return `::${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}${rest}`;
}

/** Returns the class that makes an address not public (`loopback`, `private`, `6to4`...), or null for a public one. */
export function nonPublicClass(address: IpAddress): string | null {
  if (CLOUD_METADATA.some((cidr) => matches(address, cidr))) return 'cloud metadata';
  const range = address.range();
  if (range !== 'unicast') return CLASS_NAMES[range] ?? range;
  if (isIsatap(address)) return 'ISATAP';
  if (address.kind() === 'ipv4') return null;
  if (matches(address, SIXBONE)) return '6bone';
  if (isIpv4Compatible(address)) return 'IPv4-compatible';
  const isReserved = !matches(address, GLOBAL_UNICAST_V6) || RESERVED_V6.some((block) => matches(address, block));
  return isReserved ? 'reserved' : null;
}

/** Whether the interface id carries an IPv4 address (RFC 5214, 6.1), behind any prefix. */
function isIsatap(address: IpAddress): boolean {
  if (!isIpv6(address)) return false;
  const [, , , , high = 0, low = 0] = address.parts;
  // The universal and group bits may be set or not.
  return (high & 0xfcff) === 0 && low === 0x5efe;
}

export function matches(address: IpAddress, [network, bits]: Cidr): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** Returns the IPv4 address that an IPv4-mapped IPv6 address stands for, or null. Both reach the same host. */
export function mappedIpv4(address: IpAddress): ipaddr.IPv4 | null {
  return isIpv6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : null;
}

/** Returns every IPv4 address that is embedded in an IPv6 address, and to which a network may translate it. */
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
