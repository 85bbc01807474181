import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

/*
 * By-host in terms of prefixes. A query is a list of ranges, each of them "this key starts with this text"; a host
 * matches when any of its keys does. What answers a prefix from an index answers the query.
 */

/** What is kept of a host so that an index finds it. */
export interface HostKeys {
  /** As it stands in the record: lower-case, punycode. */
  readonly host: string;
  /**
   * Labels reversed, each followed by a dot (`com.example.www.`): the last dot keeps `com.example-x.` out of the
   * range of `com.example.`. Empty for IP addresses, which have no subdomains.
   */
  readonly reversed: string;
  /** As people read it (`bücher.example`), for hosts that have an internationalised label; else null. */
  readonly unicode: string | null;
}

export type HostKey = keyof HostKeys;

/** Hosts whose `key` starts with `prefix`, taken literally. */
export interface HostRange {
  readonly key: HostKey;
  readonly prefix: string;
}

export function hostKeys(host: string): HostKeys {
  return {
    host,
    // A host that is written with the dot of the root stands below the same names as one without.
    reversed: isIP(host) === 0 ? reverseLabels(host.replace(/\.$/, '')) : '',
    unicode: isInternationalised(host) ? unicodeOf(host) : null,
  };
}

/**
 * The ranges of a by-host query. Hosts that start with the value, and the value's subdomains; every character of it
 * means itself, a dot at its end too (`example.` finds `example.com`, not `example-x.com`).
 *
 * The punycode of `bü` is no prefix of the punycode of `bücher`: where the value has an internationalised label, in
 * either spelling, "starts with" is asked of the readable form too.
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

/** Whether a host is one of those that the ranges describe. */
export function matchesHost(keys: HostKeys, ranges: readonly HostRange[]): boolean {
  return ranges.some(({ key, prefix }) => keys[key]?.startsWith(prefix) ?? false);
}

/** The least string that is greater than every one that starts with `prefix`, by code points, of those that occur. */
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

/** One label at a time and never last: a whole value would be read as an address (`1` as `0.0.0.1`). */
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
