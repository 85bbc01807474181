import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanInputs } from '../../src/commands/scan/scan-input.ts';
import { listening } from '../egress/listening.ts';
import { CERTIFICATE, KEY as KEY_OF_CERTIFICATE } from '../receivers/certificate.ts';
import { type Hosts, startHosts, titledPage } from '../scans/hosts.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { launchBrowser } from '../ui/ui-service.ts';
import { capstan, ground, launch, lineOf } from './capstan-process.ts';
import { sessionForSuite } from './session.ts';

const KEY = 'the-key-of-the-command-line';
const LOCAL = ['--allow-targets', '127.0.0.0/8'];

let hosts: Hosts;
let isHeld = false;
beforeAll(async () => {
  hosts = await startHosts((request, response) => {
    if (isHeld && request.url === '/held') return undefined;
    if (request.url === '/formula') {
      return void response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(
          '<meta charset=utf-8><title>\u202e=1+1\u009b</title><body style="background:linear-gradient(90deg,#000,#fff)">',
        );
    }
    return titledPage(request, response);
  });
});
afterAll(() => hosts?.[Symbol.asyncDispose]());

describe('capstan scan', () => {
  const app = serviceForSuite({ allowTargets: ['127.0.0.0/8'] }, { apiKey: [KEY] });
  const session = sessionForSuite();

  it('writes a line for each target, a table, and a report that opens without a service', async () => {
    const place = await ground();
    const { port, closedPort } = hosts;
    const withoutHttp = createTlsServer({ cert: CERTIFICATE, key: KEY_OF_CERTIFICATE }, (socket) => socket.destroy());
    await using tls = await listening(withoutHttp, '127.0.0.5');
    await writeFile(
      join(place.path, 'hosts.txt'),
      `127.0.0.2-3 # two\r\n127.0.0.4:${closedPort}\nbad line\nhttp://127.0.0.2:${port}/formula\nhttps://127.0.0.5:${tls.port}/\n`,
    );
    const args = ['scan', '--list', 'hosts.txt', '--ports', String(port), '--csv', '--report', 'report', ...LOCAL];
    const { code, stdout, stderr } = await capstan(args, place.options);
    expect([code, stderr]).toEqual([0, expect.stringContaining('hosts.txt:3: "bad line" has blanks')]);
    expect(stderr).toContain('hosts.txt: 5 targets, left out: 1 invalid\n');
    expect(stderr).toContain('3 reached, 2 dead (2 target_unreachable), 3 captured, 0 left');
    expect(stderr).toContain('report of 3 captures on 1 page: report/index.html\n');
    const [head, ...rows] = stdout.trimEnd().split('\r\n');
    expect(head).toMatch(/^url,status,title,server,address,final_url,/);
    expect(rows.map((row) => row.split(',').slice(0, 5).join())).toEqual([
      `http://127.0.0.2:${port}/,200,127.0.0.2:${port}/,hosts/1,127.0.0.2`,
      `http://127.0.0.3:${port}/,200,127.0.0.3:${port}/,hosts/1,127.0.0.3`,
      `https://127.0.0.4:${closedPort}/,0,,,`,
      `http://127.0.0.2:${port}/formula,200,' =1+1,,127.0.0.2`,
      `https://127.0.0.5:${tls.port}/,0,,,`,
    ]);
    expect((await readdir(join(place.path, 'report'))).toSorted()).toEqual([
      'failures.html',
      'index.html',
      'style.css',
      'thumbnails',
    ]);
    const browser = await launchBrowser();
    try {
      const page = await (await browser.newContext({ offline: true })).newPage();
      await page.goto(pathToFileURL(join(place.path, 'report/index.html')).href);
      // Both hosts show the same page but for its title.
      expect(await page.locator('body > ul > li').count()).toBe(2);
      const folded = page.locator('li', { has: page.getByText('and 1 alike') });
      expect(await folded.locator('p').allTextContents()).toEqual(
        expect.arrayContaining(['server hosts/1', 'address 127.0.0.2', 'address 127.0.0.3']),
      );
      await page.getByRole('link', { name: 'Not captured' }).first().click();
      const cells = await page.locator('td').allTextContents();
      expect(cells.map((text) => text.trim())).toEqual([
        `https://127.0.0.4:${closedPort}/`,
        'target_unreachable',
        expect.stringContaining('connection refused'),
        '',
        `https://127.0.0.5:${tls.port}/`,
        'target_unreachable',
        expect.anything(),
        expect.stringMatching(/^hooks\.test, issued by hooks\.test, until 2\d{3}-\d\d-\d\d$/),
      ]);
      // A code is on one line, also on a phone, and no column is off the screen.
      const lines = `{ const range = new Range(); range.selectNodeContents(document.querySelectorAll('td')[1]);
        range.getClientRects().length }`;
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(lines)).toBe(1);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    } finally {
      await browser.close();
    }
  });

  it('goes on with --resume after kill -9, and captures each target once', async () => {
    const place = await ground();
    const urls = ['/a', '/held', '/b'].map((path) => `http://127.0.0.7:${hosts.port}${path}`);
    isHeld = true;
    const { child } = launch(['scan', ...urls, ...LOCAL], place.options);
    const ended = once(child, 'close');
    const done = () => hosts.visits.filter((url) => url.startsWith('127.0.0.7:') && !url.endsWith('/held')).length;
    await expect.poll(done).toBe(2);
    child.kill('SIGKILL');
    await ended;
    isHeld = false;
    const refused = await capstan(['scan', ...urls, ...LOCAL], place.options);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('has the unfinished scan')]);
    const { code, stdout } = await capstan(['scan', '--resume', '--json', ...LOCAL], place.options);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines.map(({ index, result }) => [index, result.url])).toEqual([...urls.entries()]);
    const { stdout: exported } = await capstan(
      ['export', '--html', 'all', '--db-path', 'capstan-scan/results.db', '--data-dir', 'capstan-scan/data'],
      place.options,
    );
    expect(exported).toContain('exported 3 captures');
    // The outcome is there again, without another capture.
    const again = await capstan(['scan', '--resume', ...LOCAL], place.options);
    expect(again.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(hosts.visits.filter((url) => url === `127.0.0.7:${hosts.port}/a`)).toHaveLength(1);
  });

  it('hands its list to the service at --server, from standard input', async () => {
    const server = ['--server', app.baseUrl, '--api-key', KEY];
    const sitemap = `<urlset><url><loc>http://127.0.0.8:${hosts.port}/a</loc></url><url><loc>http://127.0.0.8:${hosts.port}/b</loc></url></urlset>`;
    const place = await ground();
    await writeFile(join(place.path, 'sitemap.xml.gz'), gzipSync(sitemap));
    const index = `http://127.0.0.8:${hosts.closedPort}/sitemap.xml`;
    const { code, stdout, stderr } = await capstan(['scan', '-', '--list', 'sitemap.xml.gz', ...server], {
      ...place.options,
      stdin: `\ufeff127.0.0.8:${hosts.port}\nhttp://127.0.0.8:${hosts.port}/a\nSitemap: ${index}\n`,
    });
    expect(code).toBe(0);
    // The service reads the sitemap, and knows what several lists have in common.
    expect(stderr.split('\n').slice(0, 5)).toEqual([
      'standard input: 2 targets',
      'sitemap.xml.gz: 2 targets (sitemap)',
      expect.stringMatching(`all lists: "${index}" cannot be read: .*refused`),
      'all lists: 3 targets, left out: 1 unread_sitemap, 1 duplicate',
      expect.stringMatching(/^scan /),
    ]);
    expect(stdout.trimEnd().split('\n')).toEqual(
      ['/', '/a', '/b'].map((path) => `200 http://127.0.0.8:${hosts.port}${path}  127.0.0.8:${hosts.port}${path}`),
    );
    const [job] = await app.service.jobs.newest(1);
    expect(job).toMatchObject({ kind: 'scan', state: 'completed', total: 3 });
    const { stdout: json } = await capstan(['scan', '--resume', job?.id ?? '', '--json', ...server], place.options);
    expect(json.trimEnd().split('\n')).toHaveLength(3);
    expect(await readdir(place.path)).not.toContain('capstan-scan');
  });

  it('leaves the scan to the service after Ctrl-C, and ends with 1 when the scan was cancelled', async () => {
    isHeld = true;
    const place = await ground();
    const server = ['--server', app.baseUrl, '--api-key', KEY];
    const left = launch(['scan', `http://127.0.0.16:${hosts.port}/held`, ...server], place.options);
    const leftEnded = once(left.child, 'close');
    await expect.poll(() => hosts.visits.some((url) => url.startsWith('127.0.0.16:'))).toBe(true);
    isHeld = false;
    left.child.kill('SIGINT');
    expect(await leftEnded).toEqual([130, null]);
    expect(await left.stderr).toMatch(/ 1 left, [^\n]*\nstopped; scan \S+ goes on with --resume\n$/);
    const { child, stderr } = launch(['scan', '--resume', ...server], place.options);
    const ended = once(child, 'close');
    await lineOf(child.stderr, /^(scan) /m);
    const [job] = await app.service.jobs.newest(1);
    await app.service.jobs.cancel(job?.id ?? '');
    expect(await ended).toEqual([1, null]);
    expect(await stderr).toContain('the scan was cancelled\n');
  });

  it('takes the name of a host as a target, also when the shell has created a file of this name', () => {
    const inputs = scanInputs(['vitest.config.ts', 'https://package.json'], []);
    expect(inputs.map(({ name }) => name)).toEqual(['arguments']);
  });

  it.each([
    [[], 'scan takes at least one target'],
    [['127.0.0.1', '--ports', '0'], '--ports must be ports from 1 to 65535'],
    [['127.0.0.1', '--per-host', 'many'], '--per-host must be an integer from 1 to 100, not "many"'],
    [['127.0.0.1', '--schemes', 'ftp'], '--schemes must be https, http, or both'],
    [['127.0.0.1', '--json', '--csv'], '--json cannot be combined with --csv'],
    [['127.0.0.1', '--resume'], '--resume takes the list and the options of its scan'],
    [['--resume', '--ports', '80'], '--resume takes the list and the options of its scan'],
    [['--resume', '--full-page'], '--resume takes the list and the options of its scan'],
    [['--resume', '127.0.0.1'], '--resume takes the id of a scan, or nothing for the newest, not "127.0.0.1"'],
    [['/etc/hostname'], '"/etc/hostname" is a file: name it with --list'],
    [['package.json'], '"package.json" is a file: name it with --list, or begin the target with http:// or https://'],
    [['LICENSE'], '"LICENSE" is a file: name it with --list'],
    [['--list', '/etc'], '--list takes a file with targets, and /etc is a directory'],
    [['--list', '/nonexistent', '--server', 'http://127.0.0.1:1'], '--list takes a file with targets'],
    [['127.0.0.1', '--report', '/proc'], '--report takes a new or empty directory'],
    [['a b'], 'scan takes targets, and "a b" has blanks'],
  ])('refuses %j', async (args, reason) => {
    const { code, stderr } = await session(['scan', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});
