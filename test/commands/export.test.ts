import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { resultOf } from '../http/stored-capture.ts';
import { putCapture } from '../storage/put-capture.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { NO_BROWSER } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { MARKUP } from '../ui/hostile.ts';
import { launchBrowser } from '../ui/ui-service.ts';
import type { Ended } from './capstan-process.ts';
import { sessionForSuite } from './session.ts';

const app = serviceForSuite(NO_BROWSER);
const session = sessionForSuite();
let directory: string;
/** How the export of all captures to the folder `all` ended. */
let all: Ended;

const TOTAL = 250;

beforeAll(async () => {
  directory = await makeDirectory();
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  for (let id = 1; id <= TOTAL; id += 1) {
    const hostile = { title: MARKUP, url: `https://x.example/?${MARKUP}` };
    const odd = { failed: true, failed_code: 'target_unreachable', failed_reason: MARKUP, artifacts: null } as const;
    const result = resultOf(id, {
      title: `Title ${id}`,
      host: id <= 50 ? 'few.example' : 'x.example',
      ...(id === TOTAL ? hostile : {}),
      ...(id % 5 === 0 && id !== TOTAL ? odd : {}),
    });
    if (result.artifacts !== null) await putCapture(app.service.artifacts, result, { image, html: '' });
    await app.service.results.insert(result);
  }
  all = await exported('all');
});

const exported = (name: string, ...flags: readonly string[]) =>
  session([
    'export',
    ...['--html', join(directory, name)],
    ...['--db-path', join(app.directory, 'results.db'), '--data-dir', join(app.directory, 'data')],
    ...flags,
  ]);

async function cardsIn(name: string): Promise<number> {
  const files = (await readdir(join(directory, name))).filter((file) => file.endsWith('.html'));
  const pages = await Promise.all(files.map((file) => readFile(join(directory, name, file), 'utf8')));
  return pages.join('').match(/<li id=/g)?.length ?? 0;
}

describe('capstan export --html', () => {
  it('writes a page for each hundred captures, with thumbnails, while the service runs', async () => {
    expect({ code: all.code, stdout: all.stdout }).toEqual({
      code: 0,
      stdout: `exported 250 captures, 201 thumbnails, 3 pages to ${join(directory, 'all')}\n`,
    });
    expect(await cardsIn('all')).toBe(TOTAL);
    expect(await readdir(join(directory, 'all/thumbnails'))).toHaveLength(201);
  });

  it('writes pages that open without a service, show thumbnails and do not run scripts in hostile titles', async () => {
    const browser = await launchBrowser();
    try {
      const page = await (await browser.newContext({ offline: true })).newPage();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(pathToFileURL(join(directory, 'all/index.html')).href);
      await expect.poll(() => page.evaluate('document.images[0].naturalWidth')).toBeGreaterThan(0);
      expect(await page.locator('li').count()).toBe(100);
      expect(await page.locator('li').first().locator('b').textContent()).toBe(MARKUP);
      expect(await page.title()).toBe('Captures, page 1');
      await page.getByRole('link', { name: 'Older' }).first().click();
      expect(await page.title()).toBe('Captures, page 2');
      expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it.each([
    [['--host', 'few.example'], 50],
    [['--outcome', 'failed'], 49],
    [['--text', 'title 7'], 1],
    [['--status', '404'], 0],
    [['--url', 'https://x.example/', '--from', resultOf(241).probed_at], 9],
  ])('exports with %j the same captures as the list with these conditions', async (flags, count) => {
    const name = `filtered-${count}`;
    const { code, stdout } = await exported(name, ...flags);
    expect(code).toBe(0);
    expect(stdout).toContain(`exported ${count} captures`);
    expect(await cardsIn(name)).toBe(count);
  });

  it.each([
    [['--status', 'ok'], '--status must be an HTTP status'],
    [['--host', 'a', '--url', 'b'], '--url cannot be combined with --host'],
    [['--url', 'http://'], '--url "http://"'],
    [['--host', 'few.example:443'], '--host must be a host without a port: "few.example"'],
    [['--host', 'https://few.example/'], '--host must be a host such as example.com, not a URL'],
    [['--host', ' '], '--host must not be blank'],
  ])('refuses %j with one line and exit code 2', async (flags, line) => {
    const { code, stderr } = await exported('refused', ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses a data directory whose store.json is damaged', async () => {
    const data = join(directory, 'damaged');
    await mkdir(data);
    await writeFile(join(data, 'store.json'), '');
    const { code, stderr } = await exported('refused', '--data-dir', data);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^capstan: \S+store\.json is damaged/) });
  });

  it('refuses a database that does not exist, and creates none', async () => {
    const missing = join(directory, 'missing.db');
    const { code, stderr } = await exported('refused', '--db-path', missing);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `capstan: --db-path takes the database of a service, and ${missing} does not exist\n`,
    });
    expect(await readdir(directory)).not.toContain('missing.db');
  });

  it('refuses a directory that is not empty', async () => {
    await writeFile(join(directory, 'mine'), '');
    const { code, stderr } = await exported('.');
    expect(code).toBe(2);
    expect(stderr).toContain('new or empty directory');
  });
});
