import ipaddr from 'ipaddr.js';
import { type IpAddress, parseAddress, parseCidr } from '../egress/address-classes.ts';

/** Addresses from `first` to `last`, both included, as numbers. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** A text that is a network or a range of addresses, or why it is none. Undefined when it is meant as neither. */
type RangeReading = AddressRange | { readonly problem: string } | undefined;

/** An IPv6 address with a zone, also in brackets, with a port or a prefix length. */
const ZONE = /^\[?[\da-f]*:[\da-f:.]*%/i;
const DOTTED = /^\d+(?:\.\d+){3}$/;
/** Texts that can be none: URLs, most names, and those with a port. Parsing them would take longer than the rest. */
const NO_RANGE = /[^\da-f:.[\]%/\s–-]|^[^:]*:[^:]*$/i;

/**
 * Reads an address, a network (`10.0.0.0/24`), a range (`10.0.0.1-10.0.0.20`) or the short form of a range
 * (`10.0.0.1-20`). All addresses of a network count, its first and last included.
 */
export function readRange(text: string): RangeReading {
  if (ZONE.test(text)) return { problem: 'has a zone: give the address without it' };
  if (NO_RANGE.test(text)) return undefined;
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const address = parseAddress(bare);
  if (address !== null) {
    return { family: familyOf(address), first: numberOf(address), last: numberOf(address) };
  }
  return readNetwork(bare) ?? readFromTo(bare);
}

/** Returns the number of addresses. */
export function sizeOf({ first, last }: AddressRange): bigint {
  return last - first + 1n;
}

/** Returns the host of a URL: an IPv6 address is in brackets. */
export function hostAt({ family, first }: AddressRange, offset: bigint): string {
  const bytes = bytesOf(first + offset, family === 4 ? 4 : 16);
  if (family === 4) return bytes.join('.');
  return `[${new ipaddr.IPv6(bytes).toString()}]`;
}

function readNetwork(text: string): RangeReading {
  const [, address = '', bits = ''] = /^([\da-f:.]+)\/([^/]*)$/i.exec(text) ?? [];
  if (address === '' || parseAddress(address) === null) return undefined;
  const cidr = parseCidr(text);
  if (cidr === null) {
    const max = address.includes(':') ? 128 : 32;
    return { problem: `has the prefix length ${bits}: it is a number from 0 to ${max}` };
  }
  const [network, length] = cidr;
  const family = familyOf(network);
  const free = BigInt((family === 4 ? 32 : 128) - length);
  const first = (numberOf(network) >> free) << free;
  return { family, first, last: first + (1n << free) - 1n };
}

function readFromTo(text: string): RangeReading {
  const [, from = '', to = ''] = /^([\da-f:.]+)\s*[-–]\s*([\da-f:.]+)$/i.exec(text) ?? [];
  const first = parseAddress(from);
  if (first === null) return DOTTED.test(from) ? { problem: `begins with ${from}, which is no address` } : undefined;
  const short = /^\d{1,3}$/.test(to) && first.kind() === 'ipv4' ? from.replace(/\d+$/, to) : to;
  const last = parseAddress(short);
  if (last === null || last.kind() !== first.kind()) return { problem: `ends with ${to}, which is no address` };
  const range = { family: familyOf(first), first: numberOf(first), last: numberOf(last) };
  return range.last < range.first ? { problem: 'ends before it begins' } : range;
}

function familyOf(address: IpAddress): 4 | 6 {
  return address.kind() === 'ipv4' ? 4 : 6;
}

function numberOf(address: IpAddress): bigint {
  return address.toByteArray().reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function bytesOf(number: bigint, length: number): number[] {
  return Array.from({ length }, (_, at) => Number((number >> BigInt(8 * (length - 1 - at))) & 0xffn));
}
