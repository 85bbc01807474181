import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

/*
 * Translates by-host queries into prefixes. A query is a list of ranges of the form "this key starts with this text"; a
 * host matches when any of its keys does. An index on the keys can answer the query.
 */

/** The index keys of a host. */
export interface HostKeys {
  /** As in the record: lower-case, punycode. */
  readonly host: string;
  /**
   * Labels in reverse order, each followed by a dot (`com.example.www.`): the last dot keeps `com.example-x.` out of
   * the range of `com.example.`. Empty for IP addresses, which have no subdomains.
   */
  readonly reversed: string;
  /** The readable form (`bücher.example`) of hosts with an internationalised label; else null. */
  readonly unicode: string | null;
}

export type HostKey = keyof HostKeys;

/** Hosts whose `key` starts with the literal `prefix`. */
export interface HostRange {
  readonly key: HostKey;
  readonly prefix: string;
}

export function hostKeys(host: string): HostKeys {
  return {
    host,
    // A host with a trailing dot has the same parent names as one without.
    reversed: isIP(host) === 0 ? reverseLabels(host.replace(/\.$/, '')) : '',
    unicode: isInternationalised(host) ? unicodeOf(host) : null,
  };
}

/**
 * Returns the ranges of a by-host query: hosts that start with the value, and the value's subdomains. Every character
 * is literal, including a trailing dot (`example.` finds `example.com`, not `example-x.com`).
 *
 * The punycode of `bü` is not a prefix of the punycode of `bücher`: for a value with an internationalised label, in
 * either spelling, the readable form is matched too.
 */
export function hostRanges(value: string): readonly HostRange[] {
  const ascii = asciiOf(value);
  const ranges: HostRange[] = [
    { key: 'host', prefix: ascii },
    { key: 'reversed', prefix: reverseLabels(ascii) },
  ];
  if (isInternationalised(ascii)) ranges.push({ key: 'unicode', prefix: unicodeOf(ascii) });
  return ranges;
}

/** Returns whether a host is in one of the ranges. */
export function matchesHost(keys: HostKeys, ranges: readonly HostRange[]): boolean {
  return ranges.some(({ key, prefix }) => keys[key]?.startsWith(prefix) ?? false);
}

/** Returns the smallest string that is greater than every string with this prefix, in the order of code points. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10FFFF}`;
}

function asciiOf(value: string): string {
  const text = value.trim().toLowerCase().replace(/^\[/, '').replace(/\]$/, '');
  return text
    .split(/[.\u3002\uff0e\uff61]/)
    .map(asciiLabel)
    .join('.');
}

/** Converts one label, followed by `.x`: alone, it could parse as an address (`1` as `0.0.0.1`). */
function asciiLabel(label: string): string {
  if (isAscii(label)) return label;
  const ascii = domainToASCII(`${label}.x`);
  return ascii === '' ? label : ascii.slice(0, -2);
}

function unicodeOf(host: string): string {
  return host
    .split('.')
    .map((label) => (label.startsWith('xn--') ? domainToUnicode(label) || label : label))
    .join('.');
}

function reverseLabels(host: string): string {
  return `${host.split('.').reverse().join('.')}.`;
}

function isInternationalised(host: string): boolean {
  return host.startsWith('xn--') || host.includes('.xn--');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
