import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright';
import { pixelsOf } from '../test/support/image.ts';
import type { BenchOptions } from './support/bench.ts';
import { serveFolders } from './support/serve-folders.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { type Finding, formatTable } from './support/table.ts';

/** Pages of Debian's packages apache2-doc, git-doc, postgresql-doc, python3-doc and rust-doc. */
const DEBIAN = [
  'apache2-doc/manual/en/index.html',
  'apache2-doc/manual/en/mod/core.html',
  'git/html/user-manual.html',
  'git/html/git-rebase.html',
  'postgresql-doc-15/html/index.html',
  'postgresql-doc-15/html/sql-select.html',
  'python3.11/html/index.html',
  'python3.11/html/library/asyncio.html',
  'rust-doc/html/index.html',
  'rust-doc/html/std/index.html',
  'rust-doc/html/book/ch04-01-what-is-ownership.html',
];
/** Pages of npm packages with images, web fonts and backgrounds; `--pages` is the folder where they are installed. */
const NPM = [
  'admin-lte/index.html',
  'admin-lte/pages/gallery.html',
  'impress.js/index.html',
  'reveal.js/demo.html',
  'startbootstrap-creative/dist/index.html',
  'startbootstrap-resume/dist/index.html',
  'startbootstrap-sb-admin-2/index.html',
  'webslides/demos/landings.html',
  'webslides/demos/portfolios.html',
];
/** Maximum difference of a colour channel that counts as none, as in `test/actors/outputs-mhtml.test.ts`. */
const MAX_DIFFERENCE = 8;
const MAX_SHARE = 0.01;
const MIN_PAGES = 18;
const SETTLE_MS = 2_000;
const WINDOW = { width: 1280, height: 720 };

/**
 * Captures 20 pages of others with the output `mhtml`, opens each archive in a browser without a network, and counts the
 * pixels in which it differs from the screenshot of the capture.
 */
export async function archives({ browserPath, pagesFolder, print }: BenchOptions): Promise<readonly Finding[]> {
  if (pagesFolder === undefined) throw new Error('--pages names the folder of the npm packages: see bench/README.md');
  const site = await serveFolders({ debian: '/usr/share/doc', npm: join(pagesFolder, 'node_modules') });
  const folder = process.env.BENCH_IMAGES ?? (await mkdtemp(join(tmpdir(), 'capstan-archives-')));
  const service = await startServiceProcess({ browserPath });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  try {
    const rows: (readonly [page: string, share: number | string])[] = [];
    for (const path of [...DEBIAN.map((page) => `debian/${page}`), ...NPM.map((page) => `npm/${page}`)]) {
      const share = await differingShare(
        service,
        browser,
        `${site.origin}/${path}`,
        join(folder, path.replaceAll('/', '_')),
      );
      rows.push([path, share]);
    }
    const isAlike = (share: number | string) => typeof share === 'number' && share < MAX_SHARE;
    print(
      formatTable(
        ['page', 'pixels that differ'],
        rows.map(([page, share]) => [page, typeof share === 'number' ? `${(share * 100).toFixed(2)} %` : share]),
      ),
    );
    const alike = rows.filter(([, share]) => isAlike(share)).length;
    return [
      {
        what: `archives that differ in less than ${MAX_SHARE * 100} % of the pixels (${rows.length} pages)`,
        figure: String(alike),
        target: String(MIN_PAGES),
        met: alike >= MIN_PAGES,
      },
    ];
  } finally {
    await browser.close();
    await service.stop();
    site.close();
    if (process.env.BENCH_IMAGES === undefined) await rm(folder, { recursive: true });
  }
}

/** Returns the share of the pixels that differ, or why it is not known. Keeps the images beside the archive, `file`. */
async function differingShare(
  service: ServiceProcess,
  browser: Browser,
  url: string,
  file: string,
): Promise<number | string> {
  const { status, body } = await service.capture(url, { outputs: ['mhtml'], timeoutMs: 60_000 });
  const { data, error } = JSON.parse(body);
  if (status !== 200) return `${status} ${error}`;
  const read = async (view: string) => {
    const response = await fetch(`${service.origin}${data.screenshot}${view}`);
    return response.ok ? Buffer.from(await response.arrayBuffer()) : undefined;
  };
  const [image, archive] = [await read(''), await read('?view=mhtml')];
  if (image === undefined || archive === undefined || archive.length === 0) return 'no archive';
  await writeFile(`${file}.mhtml`, archive);
  const page = await browser.newPage({ viewport: WINDOW });
  await page.context().setOffline(true);
  await page.goto(pathToFileURL(`${file}.mhtml`).href);
  // In a corner, the pointer is over nothing that the capture did not show so.
  await page.mouse.move(0, WINDOW.height - 1);
  // Style sheets start transitions when a document loads.
  await page.waitForTimeout(SETTLE_MS);
  const shown = await page.screenshot();
  await page.close();
  await Promise.all([writeFile(`${file}.png`, image), writeFile(`${file}.archive.png`, shown)]);
  const [one, other] = [await pixelsOf(image), await pixelsOf(shown)];
  if (one.width !== other.width || one.height !== other.height) return 'sizes differ';
  let different = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const isDifferent = [0, 1, 2].some(
      (c) => Math.abs((one.data[at + c] ?? 0) - (other.data[at + c] ?? 0)) > MAX_DIFFERENCE,
    );
    if (isDifferent) different += 1;
  }
  return different / (one.width * one.height);
}
