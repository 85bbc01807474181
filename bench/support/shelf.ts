import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';
import { listening } from '../../test/egress/listening.ts';

/** Where Debian's packages python3-doc and postgresql-doc install their pages, and what these link to. */
const SHELF = '/usr/share/doc';
const LINKED = ['/usr/share/javascript/', '/usr/share/fonts-'];
const BOOKS = [/^python3\.\d+$/, /^postgresql-doc-\d+$/];
const PAGES_OF_EACH = 30;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/**
 * Serves the books on loopback; `urls` has pages from all parts of each book. `at`: 0 to 1, which pages between those.
 * Throws when a book is not installed.
 */
export async function openShelf(at = 0): Promise<AsyncDisposable & { readonly urls: readonly string[] }> {
  const shelf = await realpath(SHELF);
  const names = await readdir(shelf);
  const paths = await Promise.all(
    BOOKS.map(async (book) => {
      const name = names.filter((candidate) => book.test(candidate)).sort()[0];
      const pages = name === undefined ? [] : await pagesIn(join(shelf, name, 'html'), join('/', name, 'html'));
      if (pages.length < PAGES_OF_EACH) {
        throw new Error('the pages are not there: apt-get install python3-doc postgresql-doc');
      }
      const stride = pages.length / PAGES_OF_EACH;
      return Array.from({ length: PAGES_OF_EACH }, (_, index) => pages[Math.floor((index + at) * stride)] ?? '');
    }),
  );
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '/', 'http://shelf.invalid');
      const file = await realpath(join(shelf, decodeURIComponent(pathname))).catch(() => '');
      if (![shelf + sep, ...LINKED].some((folder) => file.startsWith(folder)) || !(await stat(file)).isFile()) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    })();
  });
  const served = await listening(server);
  return { ...served, urls: paths.flat().map((path) => `http://127.0.0.1:${served.port}${path}`) };
}

async function pagesIn(folder: string, path: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.endsWith('.html'))
    .sort()
    .map((entry) => join(path, entry));
}
