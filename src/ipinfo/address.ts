import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns whether a text is exactly an IPv4 or IPv6 address: no zone, CIDR suffix, brackets or blanks. */
export function isAddress(text: string): boolean {
  // `isIP` accepts zones (`fe80::1%eth0`).
  return isIP(text) !== 0 && !text.includes('%');
}

/**
 * Returns the canonical spelling of an address: IPv6 compressed and lower-case, and an IPv4-mapped IPv6 address as the
 * IPv4 address.
 */
export function canonicalAddress(address: string): string {
  return ipaddr.process(address).toString();
}

/**
 * Returns whether an address is private, loopback, link-local, multicast, for documentation or otherwise reserved: the
 * upstream has no information about such addresses. False for a text that is not an address.
 */
export function isReservedAddress(address: string): boolean {
  return isAddress(address) && ipaddr.process(address).range() !== 'unicast';
}
