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
  const bytes = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Returns the text that its percent signs encode; where they encode none, they stand for themselves. */
function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
