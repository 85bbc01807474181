import { createServer } from 'node:http';
import { extname } from 'node:path';
import { listening } from '../../test/egress/listening.ts';

const HTML = 'text/html; charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

export interface ServedContent extends AsyncDisposable {
  url(path: string): string;
}

/**
 * Serves on loopback what `read` resolves with for a path, by default as HTML; what it rejects is not found.
 * `scripts: false`: pages run no scripts.
 */
export async function serveContent(
  read: (path: string) => Promise<string | Buffer>,
  { scripts = true } = {},
): Promise<ServedContent> {
  const policy = scripts ? {} : { 'content-security-policy': "script-src 'none'" };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://any.invalid').pathname).slice(1);
    read(path).then(
      (body) => response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? HTML, ...policy }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  const served = await listening(server);
  return { ...served, url: (path) => `http://127.0.0.1:${served.port}/${path}` };
}
