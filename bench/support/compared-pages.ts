import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveContent } from './serve-content.ts';
import { servePages } from './serve-pages.ts';

/** Where Debian's packages python3-doc and postgresql-doc install their pages. */
const SHELF = '/usr/share/doc';
const BOOKS = [/^python3\.\d+$/, /^postgresql-doc-\d+$/];
const PAGES_OF_EACH = 30;

/** Pages to compare: half of them documentation of Debian, half of them of a folder (`html/<name>.html.gz`). */
export interface ComparedPages {
  /** One of each kind, in turn. */
  readonly urls: readonly string[];
  /** Those of Debian, from all parts of each book, which are complete: the others lack the files that they load. */
  readonly documentation: readonly string[];
}

/** Serves the pages on loopback until `opened` is disposed of. `set`: the pages of one set are not in the other. */
export async function openPages(
  folder: string | undefined,
  { count, set }: { readonly count: number; readonly set: 0 | 1 },
  opened: AsyncDisposableStack,
): Promise<ComparedPages> {
  const shelf = opened.use(await serveContent((path) => readFile(join(SHELF, path))));
  const books = await Promise.all(BOOKS.map(pagesOfBook));
  const documentation = books.flatMap((pages) => {
    const stride = pages.length / PAGES_OF_EACH;
    const chosen = Array.from({ length: PAGES_OF_EACH }, (_, at) => pages[Math.floor((at + set / 2) * stride)] ?? '');
    return chosen.map((path) => shelf.url(path));
  });
  if (folder === undefined) return { urls: documentation, documentation };
  const served = opened.use(await servePages(join(folder, 'html'), { scripts: false }));
  const stride = Math.max(1, Math.floor(served.names.length / (2 * count)));
  const given = served.names.filter((_, at) => at % stride === Math.floor((set * stride) / 2)).map(served.url);
  const urls = Array.from({ length: Math.max(given.length, documentation.length) }, (_, at) => [
    documentation[(at * 7) % documentation.length],
    given[at],
  ]);
  return { urls: [...new Set(urls.flat())].filter((url) => url !== undefined), documentation };
}

/** Rejects when the book is not installed. */
async function pagesOfBook(book: RegExp): Promise<readonly string[]> {
  const name = (await readdir(SHELF)).sort().find((candidate) => book.test(candidate)) ?? '';
  const entries = await readdir(join(SHELF, name, 'html'), { recursive: true }).catch(() => []);
  const pages = entries.filter((entry) => entry.endsWith('.html')).sort();
  if (pages.length < PAGES_OF_EACH)
    throw new Error('the pages are not there: apt-get install python3-doc postgresql-doc');
  return pages.map((entry) => join(name, 'html', entry));
}
