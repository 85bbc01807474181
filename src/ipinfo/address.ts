import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether a text is an IPv4 or IPv6 address and nothing more: no zone, no CIDR, no brackets, no blanks. */
export function isAddress(text: string): boolean {
  // `isIP` takes zones (`fe80::1%eth0`).
  return isIP(text) !== 0 && !text.includes('%');
}

/**
 * One spelling for each address: IPv6 compressed and lower-case, and an IPv4-mapped IPv6 address as the IPv4 address
 * that it is.
 */
export function canonicalAddress(address: string): string {
  return ipaddr.process(address).toString();
}

/**
 * Whether an address is private, loopback, link-local, multicast, for documentation or reserved in any other way, so
 * that nobody but its own network knows anything about it. False for what is no address at all.
 */
export function isReservedAddress(address: string): boolean {
  return isAddress(address) && ipaddr.process(address).range() !== 'unicast';
}
