import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { listening } from '../../test/egress/listening.ts';

export interface ServedPages extends AsyncDisposable {
  /** The names of the pages, without their extension. */
  readonly names: readonly string[];
  url(name: string): string;
}

/**
 * Serves `<name>.html.gz` of a folder as UTF-8; whatever else the pages ask for is not found. `scripts: false` shows
 * them as a browser does whose scripts are off.
 */
export async function servePages(folder: string, { scripts = true } = {}): Promise<ServedPages> {
  const headers = scripts ? {} : { 'content-security-policy': "script-src 'none'" };
  const extension = '.html.gz';
  const page = (packed: Buffer): Buffer => {
    const html = gunzipSync(packed);
    // One byte for each character keeps every encoding.
    return scripts ? html : Buffer.from(html.toString('latin1').replace(/<\/?noscript[^>]*>/gi, ''), 'latin1');
  };
  const files = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  const names = files.map((name) => name.slice(0, -extension.length));
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    if (!names.includes(name)) {
      response.writeHead(404).end();
      return;
    }
    readFile(join(folder, name + extension)).then(
      (packed) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(page(packed)),
      () => response.destroy(),
    );
  });
  const served = await listening(server);
  return { ...served, names, url: (name) => `http://127.0.0.1:${served.port}/${name}` };
}
