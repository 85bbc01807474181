import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { type Pixels, pixelsOf } from '../test/support/image.ts';
import type { BenchOptions } from './support/bench.ts';
import { serveFolders } from './support/serve-folders.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import type { Finding } from './support/table.ts';

/** Where Debian's packages python3-doc and postgresql-doc install their pages. */
const SHELF = '/usr/share/doc';
const BOOKS = [/^python3\.\d+$/, /^postgresql-doc-\d+$/];
const PAGES_OF_EACH = 30;
/** An image with fewer colours counts as blank: even a few antialiased letters have dozens of shades. */
const FEWEST_COLOURS = 16;
/** Minimum share of the words painted by a page that are in the output `text`. */
const MIN_WORDS = 0.99;
/** Twice the time that a page of text takes. */
const TIMEOUT_MS = 60_000;

/**
 * Captures 60 full pages of real documentation. No capture may fail, be blank, or be truncated, and its text has the words
 * that Playwright's browser says are rendered (`innerText`).
 */
export async function documentation({ browserPath, report }: BenchOptions): Promise<readonly Finding[]> {
  const shelf = await openShelf();
  const service = await startServiceProcess({ browserPath });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  try {
    const reader = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    const faults: string[] = [];
    const words: { readonly all: number; readonly found: number }[] = [];
    for (const url of shelf.urls) {
      await reader.goto(url);
      const height = await reader.evaluate('document.documentElement.scrollHeight');
      const rendered = wordsOf(String(await reader.evaluate('document.body.innerText')));
      const seen = await capturePage(service, url);
      if (typeof seen === 'string') faults.push(`${url}: ${seen}`);
      else {
        if (seen.colours < FEWEST_COLOURS) faults.push(`${url}: blank, it has ${seen.colours} colours`);
        if (seen.partial) faults.push(`${url}: partial`);
        if (seen.fullHeight !== height) faults.push(`${url}: ${seen.fullHeight} px, and it is ${height} px tall`);
        const share = shareOf(rendered, wordsOf(seen.text));
        words.push({ all: rendered.length, found: share * rendered.length });
        if (share < MIN_WORDS)
          faults.push(
            `${url}: ${(share * 100).toFixed(2)} % of the words are in its text${seen.isTextCut ? ', which a bound of time or size cut' : ''}`,
          );
        if (seen.truncated || seen.height !== seen.fullHeight) faults.push(`${url}: cut at ${seen.height} px`);
      }
    }
    const sum = (of: 'all' | 'found') => words.reduce((total, each) => total + each[of], 0);
    const share = sum('found') / sum('all');
    for (const fault of faults) report(`documentation: ${fault}`);
    return [
      {
        what: `pages of documentation, whole (${shelf.urls.length})`,
        figure: `${faults.length} at fault`,
        target: 'none',
        met: faults.length === 0 && shelf.urls.length === BOOKS.length * PAGES_OF_EACH,
      },
      {
        what: 'words of these pages that are in `text`',
        figure: `${(share * 100).toFixed(3)} % of ${sum('all')}`,
        target: `${MIN_WORDS * 100} %`,
        met: share >= MIN_WORDS,
      },
    ];
  } finally {
    await browser.close();
    await service.stop();
    shelf.close();
  }
}

interface Seen {
  readonly height: number;
  readonly fullHeight: number;
  readonly truncated: boolean;
  readonly partial: boolean;
  readonly colours: number;
  readonly text: string;
  readonly isTextCut: boolean;
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** Returns the share of the words that are among the others, counting repetitions. */
function shareOf(words: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  const found = words.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  });
  return words.length === 0 ? 1 : found.length / words.length;
}

/** The image that the service returned, or the reason why there is none. */
async function capturePage(service: ServiceProcess, url: string): Promise<Seen | string> {
  const { status, body } = await service.capture(url, { fullPage: true, outputs: ['text'], timeoutMs: TIMEOUT_MS });
  const { data, error } = JSON.parse(body);
  if (status !== 200) return `${status} ${error}`;
  const image = await fetch(service.origin + data.screenshot);
  const text = await fetch(`${service.origin}${data.screenshot}?view=text`);
  const png = await pixelsOf(await image.bytes());
  if (png.height !== data.height) return `the image is ${png.height} px tall, the result says ${data.height}`;
  return {
    height: png.height,
    fullHeight: data.full_height,
    truncated: data.truncated,
    partial: data.partial,
    colours: coloursOf(png),
    text: text.ok ? await text.text() : '',
    isTextCut: data.outputs.some((output: { readonly partial: boolean }) => output.partial),
  };
}

/** Counts distinct colours, at most up to `FEWEST_COLOURS`. */
function coloursOf({ data }: Pixels): number {
  const colours = new Set<number>();
  for (let at = 0; at < data.length && colours.size < FEWEST_COLOURS; at += 4) colours.add(data.readUInt32BE(at));
  return colours.size;
}

/**
 * Serves the books on loopback; `urls` has pages from all parts of each book. `at`: 0 to 1, which pages between those.
 * Throws when a book is not installed.
 */
export async function openShelf(at = 0): Promise<{ readonly urls: readonly string[]; close(): void }> {
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
  return { urls: paths.flat().map((path) => `${served.origin}/doc${path}`), close: served.close };
}

async function pagesIn(folder: string, path: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.endsWith('.html'))
    .sort()
    .map((entry) => join(path, entry));
}
