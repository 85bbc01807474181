/*
 * The forms in which people write a target: with a scheme, without one (`localhost:3000/x`), or with a scheme other
 * than http and https (`javascript:...`), which is kept, so that the egress policy refuses it.
 */

/** Schemes that could be mistaken for a host name before a port (`javascript:1`). */
const OTHER_SCHEMES =
  /^(?:about|blob|chrome|chrome-extension|content|data|devtools|feed|file|filesystem|ftp|intent|jar|javascript|mailto|sms|tel|urn|vbscript|view-source|ws|wss):/i;
const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
const PORT_AND_REST = /^\d+(?:[/?#]|$)/;
/** C0 controls and DEL. URL parsers drop some of them silently, so that two parsers could read different URLs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

/** A parsed target, with the host derived once. */
export interface Target {
  /** The URL as written, with `https://` added when it had no scheme. */
  readonly url: string;
  readonly parsed: URL;
  /** Lower-case, punycode, IPv6 without brackets. */
  readonly host: string;
  /** True when `https://` was added: `http://` is tried when nothing answers. */
  readonly schemeAssumed: boolean;
}

type TargetReading = { readonly ok: true; readonly target: Target } | { readonly ok: false; readonly problem: string };

/**
 * Parses an absolute URL.
 * @throws TypeError when the text is not an absolute URL.
 */
export function targetOf(url: string, schemeAssumed = false): Target {
  const parsed = new URL(url);
  return { url, parsed, host: hostOf(parsed), schemeAssumed };
}

/** The target of captures of given HTML. RFC 6761: no name below `.invalid` exists. */
export const HTML_TARGET = targetOf('http://html.invalid/');

/** Returns the host of a URL as records and events show it: IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the port of an http or https URL, or the default port of its scheme. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** Returns the URL to fetch when nothing answers at an assumed `https://`; undefined when the scheme was given. */
export function overHttp({ url, schemeAssumed }: Target): string | undefined {
  return schemeAssumed ? url.replace(/^https:/i, 'http:') : undefined;
}

/** Adds `https://` to a text without a scheme. */
export function ensureProtocol(text: string): string {
  if (hasScheme(text)) return text;
  return text.startsWith('//') ? `https:${text}` : `https://${text}`;
}

function hasScheme(text: string): boolean {
  if (OTHER_SCHEMES.test(text)) return true;
  const [, name, rest] = SCHEME.exec(text) ?? [];
  if (name === undefined || rest === undefined) return false;
  if (rest.startsWith('//')) return true;
  // A name with a dot or before a port is a host: no registered scheme in use contains a dot.
  return !PORT_AND_REST.test(rest) && !name.includes('.') && name.toLowerCase() !== 'localhost';
}

/** Reads a target as a request names it. */
export function readTarget(text: string): TargetReading {
  const trimmed = text.trim();
  if (trimmed === '') return wrong('must not be blank: give a URL such as https://example.com/');
  if (CONTROL_CHARACTERS.test(trimmed)) return wrong('must not contain control characters');
  if (!trimmed.isWellFormed() || trimmed.includes('\ufffd')) {
    return wrong(
      'contains U+FFFD or half of a surrogate pair: a character was lost, as when a text is not UTF-8; write %EF%BF%BD for U+FFFD itself',
    );
  }
  const url = ensureProtocol(trimmed);
  // URL parsers would take the first path segment for the host.
  const parsed = /^https?:\/\/(?:\/|$)/i.test(url) ? null : URL.parse(url);
  if (parsed === null) {
    const port = badPort(url);
    if (port !== undefined) return wrong(`has the port ${port}: a port is a number from 0 to 65535`);
    return wrong(`is not a URL: ${quoted(trimmed)} has no valid host; give a URL such as https://example.com/`);
  }
  return { ok: true, target: { url, parsed, host: hostOf(parsed), schemeAssumed: !hasScheme(trimmed) } };
}

/** Returns the invalid port of a URL that is valid without it; undefined when the port is not the problem. */
function badPort(url: string): string | undefined {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(url) ?? [];
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const [, host, port] = /^(\[[^\]]*\]|[^:]*):(.*)$/s.exec(authority.slice(user.length)) ?? [];
  if (host === undefined || port === undefined || !URL.canParse(`${scheme}${user}${host}${rest}`)) return undefined;
  return port.length > 20 ? `${port.slice(0, 20)}…` : port;
}

function wrong(problem: string): TargetReading {
  return { ok: false, problem };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
