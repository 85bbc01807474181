import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';
import { listening } from '../../test/egress/listening.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.gif': 'image/gif',
  '.woff2': 'font/woff2',
};

/** Serves folders on loopback, each below its name, and Debian's scripts, which its documentation links to. */
export async function serveFolders(
  folders: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly origin: string }> {
  const roots = await Promise.all(
    Object.entries(folders).map(async ([name, folder]) => [name, await realpath(folder)] as const),
  );
  const allowed = [...roots.map(([, root]) => `${root}${sep}`), '/usr/share/javascript/', '/usr/share/fonts-'];
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '/', 'http://folders.invalid');
      const [, name, rest = ''] = /^\/([^/]*)\/(.*)$/.exec(decodeURIComponent(pathname)) ?? [];
      const [, root = ''] = roots.find(([each]) => each === name) ?? [];
      const file = root === '' ? '' : await realpath(join(root, rest)).catch(() => '');
      if (!allowed.some((each) => file.startsWith(each)) || !(await stat(file)).isFile()) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    })();
  });
  const served = await listening(server);
  return { ...served, origin: `http://127.0.0.1:${served.port}` };
}
