/** Returns the URL of a path of a service, which may be below a path of its host: `http://127.0.0.1/capstan`. */
export function serviceUrl(baseUrl: string | URL, path: string): URL {
  const base = new URL(baseUrl);
  // Below the base's path, and never another host: a path may begin with two slashes.
  const [, pathname = '', search = ''] = /^([^?#]*)(\?[^#]*)?/.exec(path) ?? [];
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/${pathname.replace(/^\/+/, '')}`;
  base.search = search;
  base.hash = '';
  base.username = '';
  base.password = '';
  return base;
}

/** Returns the `Authorization` that a URL with credentials stands for, which fetch does not take. */
export function credentialsOf(baseUrl: string | URL): string | undefined {
  const { username, password } = new URL(baseUrl);
  if (username === '' && password === '') return undefined;
  return `Basic ${btoa(`${bytesOf(username)}:${bytesOf(password)}`)}`;
}

/** Returns a URL, or a text that should be one, without its user name and password; as given when it has none. */
export function withoutCredentials(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text.replace(/^([^/?#]*\/\/)[^/?#]*@/, '$1');
  if (url.username === '' && url.password === '') return text;
  url.username = '';
  url.password = '';
  return url.href;
}

/**
 * Decodes a part of a URL to bytes, one character each. A `%` that begins no byte stands for itself, as in browsers.
 */
function bytesOf(part: string): string {
  return part.replace(/%([\da-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
}
