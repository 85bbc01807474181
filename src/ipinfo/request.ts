import type { Format } from './names.ts';
import type { Settings } from './options.ts';
import { keySpellings } from './redact.ts';

const ACCEPT: Record<Format | 'field', string> = {
  json: 'application/json',
  jsonp: 'application/javascript',
  xml: 'application/xml',
  csv: 'text/csv',
  yaml: 'application/yaml',
  field: 'text/plain',
};

/** A GET request before the key is added. */
export interface ApiRequest {
  readonly url: URL;
  readonly accept: string;
}

/** Returns a GET request for path segments under the base address; `kind` is the expected type of the body. */
export function buildRequest(settings: Settings, segments: readonly string[], kind: Format | 'field'): ApiRequest {
  const url = new URL(settings.base);
  // Assigned to `pathname`: as a relative reference, `fe80::1/json/` would be parsed with the scheme `fe80:`, and
  // percent-encoding would change the colons.
  url.pathname = `${settings.base.pathname}${segments.join('/')}/`;
  if (kind === 'jsonp' && settings.callback !== null) url.searchParams.set('callback', settings.callback);
  return { url, accept: `${ACCEPT[kind]}, */*;q=0.5` };
}

/** Returns the request for one hop, with the key only when it goes to the base address's own origin. */
export function authenticate(
  { url, accept }: ApiRequest,
  settings: Settings,
): { readonly url: URL; readonly headers: Record<string, string> } {
  const headers: Record<string, string> = { accept, 'user-agent': settings.userAgent };
  const { apiKey } = settings;
  if (apiKey === null || url.origin !== settings.base.origin) return { url, headers };
  if (settings.apiKeyMode === 'header') return { url, headers: { ...headers, authorization: `Bearer ${apiKey}` } };
  const withKey = new URL(url);
  withKey.searchParams.set('key', apiKey);
  return { url: withKey, headers };
}

/**
 * Returns the target of a redirect, without the key that a server may have copied into it; null when it must not be
 * followed.
 */
export function redirectTarget(location: string | undefined, from: URL, settings: Settings): URL | null {
  if (location === undefined) return null;
  const target = URL.parse(location, from.href);
  if (target === null || (target.protocol !== 'http:' && target.protocol !== 'https:')) return null;
  target.username = '';
  target.password = '';
  target.hash = '';
  const { apiKey } = settings;
  if (apiKey === null) return target;
  for (const [name, value] of [...target.searchParams]) {
    if (value.includes(apiKey)) target.searchParams.delete(name, value);
  }
  const stillThere = keySpellings(apiKey).some((spelling) => target.href.includes(spelling));
  return stillThere && target.origin !== settings.base.origin ? null : target;
}
