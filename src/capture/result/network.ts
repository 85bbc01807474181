/* Without a package, because the thread of SQLite loads none, and without Node.js, for the web interface. */

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6_GROUP = /^[\da-f]{1,4}$/i;
const IPV6_BYTES = 16;

/** Prefixes by which addresses are found, in bits: those between two of them are looked up by the longer one. */
const LEVELS = { ipv4: steps(8, 32), ipv6: [...steps(16, 64), 128] } as const;

/** A network, or one address. */
export interface Network {
  readonly bytes: readonly number[];
  /** Length of the prefix in bits. */
  readonly length: number;
}

/** Reads an address or a network (`10.1.0.0/16`); null when the text is neither, or too large a network to look for. */
export function readNetwork(text: string): Network | null {
  const [, address = '', prefix] = /^\[?([\d.a-f:]+)\]?(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const bytes = bytesOf(address);
  if (bytes === null) return null;
  const written = address.includes(':') && bytes.length === 4 ? 96 : 0;
  const length = prefix === undefined ? bytes.length * 8 : Number(prefix) - written;
  const isAddress = length === bytes.length * 8;
  const [least, most] = bytes.length === 4 ? [8, 32] : [16, 64];
  return isAddress || (length >= least && length <= most) ? { bytes, length } : null;
}

/** Returns the prefixes by which an address is found; none for a text that is no address. */
export function prefixesOfAddress(address: string): readonly string[] {
  const bytes = bytesOf(address);
  return bytes === null ? [] : levelsOf(bytes).map((level) => prefixOf(bytes, level));
}

/** Returns prefixes of which each address of the network has exactly one: at most 8. */
export function prefixesOfNetwork({ bytes, length }: Network): readonly string[] {
  const level = levelsOf(bytes).find((each) => each >= length) ?? bytes.length * 8;
  const start = masked(bytes, length);
  return Array.from({ length: 2 ** (level - length) }, (_, nth) => {
    const at = Math.floor((level - 1) / 8);
    const shift = (8 - (level % 8)) % 8;
    return prefixOf(
      start.map((byte, index) => (index === at ? byte | (nth << shift) : byte)),
      level,
    );
  });
}

function levelsOf({ length }: readonly number[]): readonly number[] {
  return length === 4 ? LEVELS.ipv4 : LEVELS.ipv6;
}

function prefixOf(bytes: readonly number[], level: number): string {
  return `${masked(bytes, level)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}/${level}`;
}

function masked(bytes: readonly number[], length: number): readonly number[] {
  return bytes.map((byte, at) => byte & (0xff00 >> Math.min(8, Math.max(0, length - at * 8))) & 0xff);
}

/** Returns the bytes of an address, those of IPv4 for an IPv4-mapped one; null for another text. */
function bytesOf(text: string): readonly number[] | null {
  if (IPV4.test(text)) return text.split('.').map(Number);
  const [before, after, ...more] = text.split('::').map((part, at, all) => ofGroups(part, at === all.length - 1));
  if (before == null || after === null || more.length > 0) return null;
  const left = IPV6_BYTES - before.length - (after?.length ?? 0);
  if (after === undefined ? left !== 0 : left < 2) return null;
  const bytes = [...before, ...zeros(left), ...(after ?? [])];
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

/** Returns the bytes of groups of IPv6; null for another text. `isLast`: the last group may be an address of IPv4. */
function ofGroups(text: string, isLast: boolean): readonly number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    const value = Number.parseInt(group, 16);
    if (IPV6_GROUP.test(group)) bytes.push(value >> 8, value & 0xff);
    else if (isLast && at === groups.length - 1 && IPV4.test(group)) bytes.push(...group.split('.').map(Number));
    else return null;
  }
  return bytes;
}

function zeros(length: number): readonly number[] {
  return Array.from({ length }, () => 0);
}

function steps(from: number, to: number): readonly number[] {
  return Array.from({ length: (to - from) / 4 + 1 }, (_, at) => from + at * 4);
}
