import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { serveFolders } from './serve-folders.ts';

/** Where Debian's packages python3-doc and postgresql-doc install their pages. */
const SHELF = '/usr/share/doc';
const BOOKS = [/^python3\.\d+$/, /^postgresql-doc-\d+$/];
const PAGES_OF_EACH = 30;

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
  const served = await serveFolders({ doc: shelf });
  return { ...served, urls: paths.flat().map((path) => `${served.origin}/doc${path}`) };
}

async function pagesIn(folder: string, path: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.endsWith('.html'))
    .sort()
    .map((entry) => join(path, entry));
}
