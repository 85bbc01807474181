/*
 * What people write for a target: with a scheme, without one (`localhost:3000/x`), or with one that is not the web's
 * (`javascript:...`), which is recognised as such and left for the egress rules to forbid.
 */

/** Schemes that could be read as `host:port` when digits follow (`javascript:1`). Nobody names a host so. */
const OTHER_SCHEMES =
  /^(?:about|blob|chrome|chrome-extension|content|data|devtools|feed|file|filesystem|ftp|intent|jar|javascript|mailto|sms|tel|urn|vbscript|view-source|ws|wss):/i;
const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
const PORT_AND_REST = /^\d+(?:[/?#]|$)/;
/** C0 controls and DEL: URL parsers drop some of them silently, so that two readers would see two URLs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

/** What a request names: its URL as recorded, and what is derived from it, once. */
export interface Target {
  /** As it was written, with the scheme put before it when it had none. */
  readonly url: string;
  readonly parsed: URL;
  /** Lower-case, punycode, IPv6 without brackets. */
  readonly host: string;
  /** `https://` was put before it: where nothing answers, `http://` is tried. */
  readonly schemeAssumed: boolean;
}

export type TargetReading =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly problem: string };

/** The target that a URL stands for. Throws a `TypeError` for a text that is no absolute URL. */
export function targetOf(url: string, schemeAssumed = false): Target {
  const parsed = new URL(url);
  return { url, parsed, host: hostOf(parsed), schemeAssumed };
}

/** The host of a URL as records and events have it: IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The port of an http or https URL, also where it is the scheme's own. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** The URL that is fetched when nothing answers at an assumed `https://`; undefined when the scheme was given. */
export function overHttp({ url, schemeAssumed }: Target): string | undefined {
  return schemeAssumed ? url.replace(/^https:/i, 'http:') : undefined;
}

/** `https://` before what has no scheme; anything else as it is. */
export function ensureProtocol(text: string): string {
  if (hasScheme(text)) return text;
  return text.startsWith('//') ? `https:${text}` : `https://${text}`;
}

function hasScheme(text: string): boolean {
  if (OTHER_SCHEMES.test(text)) return true;
  const [, name, rest] = SCHEME.exec(text) ?? [];
  if (name === undefined || rest === undefined) return false;
  if (rest.startsWith('//')) return true;
  // A dot or a port makes it a host: no registered scheme in use has a dot.
  return !PORT_AND_REST.test(rest) && !name.includes('.') && name.toLowerCase() !== 'localhost';
}

/** The target as it is kept: as written, the scheme put before it when it had none. */
export function readTarget(text: string): TargetReading {
  const trimmed = text.trim();
  if (trimmed === '') return wrong('must not be blank: give a URL such as https://example.com/');
  if (CONTROL_CHARACTERS.test(trimmed)) return wrong('must not hold control characters');
  const url = ensureProtocol(trimmed);
  // The parser would take the first path segment for the host.
  if (/^https?:\/\/(?:\/|$)/i.test(url) || !URL.canParse(url)) {
    const port = badPort(url);
    if (port !== undefined) return wrong(`has the port ${port}: a port is a number from 0 to 65535`);
    return wrong(
      `is not a URL: ${quoted(trimmed)} has no host that can be read; give one such as https://example.com/`,
    );
  }
  return { ok: true, target: targetOf(url, !hasScheme(trimmed)) };
}

/** The port of a URL that could be parsed without it. */
function badPort(url: string): string | undefined {
  const [, before, port, after] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*):([^/?#\]:]*)(.*)$/is.exec(url) ?? [];
  if (before === undefined || port === undefined || !URL.canParse(`${before}${after}`)) return undefined;
  return port.length > 20 ? `${port.slice(0, 20)}…` : port;
}

function wrong(problem: string): TargetReading {
  return { ok: false, problem };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
