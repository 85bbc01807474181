import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shotFileName } from '../../src/commands/shot-files.ts';
import { shotLine } from '../../src/commands/shot-report.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capstan, ground } from './capstan-process.ts';

describe('capstan shot', () => {
  const site = siteForSuite();

  it('saves an image and prints a line for each page, and leaves nothing else behind', async () => {
    await using place = await ground();
    const args = [
      'shot',
      site.url('/short'),
      site.url('/404'),
      '--allow-targets',
      '127.0.0.1',
      '--out-dir',
      'pictures',
    ];
    const { code, stdout, stderr } = await capstan(args, place.options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await readdir(place.path)).toEqual(['pictures']);
    const files = (await readdir(join(place.path, 'pictures'))).sort();
    expect(files).toEqual(['127.0.0.1_404-2.png', '127.0.0.1_short-1.png']);
    for (const file of files) {
      const image = await readFile(join(place.path, 'pictures', file));
      expect(image.subarray(1, 4).toString('latin1')).toBe('PNG');
    }
    const lines = stdout.trim().split('\n').sort();
    expect(lines[0]).toMatch(/^saved pictures\/127\.0\.0\.1_404-2\.png {2}404 /);
    expect(lines[1]).toMatch(/^saved pictures\/127\.0\.0\.1_short-1\.png {2}200 \S/);
    expect(await place.browsers()).toEqual([]);
  });

  it('tries an address without a scheme over http where nobody speaks TLS', async () => {
    await using place = await ground();
    const args = ['shot', `127.0.0.1:${site.port}/short`, '--allow-targets', '127.0.0.1', '--out-dir', '.'];
    const { code, stdout } = await capstan(args, place.options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^saved 127\.0\.0\.1_short-1\.png {2}200 /);
  });

  it('goes on after a failure, names it, and ends with exit code 1', async () => {
    await using place = await ground();
    const { code, stdout } = await capstan(
      ['shot', '-', site.url('/short'), '--allow-targets', '127.0.0.1', '--format', 'jpg', '--out-dir', '.'],
      { ...place.options, stdin: 'http://10.1.2.3/x\n\nhttp://127.0.0.1:1/\n' },
    );
    expect(code).toBe(1);
    const lines = stdout.trim().split('\n').sort();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^failed http:\/\/10\.1\.2\.3\/x: target_forbidden \S/);
    expect(lines[1]).toMatch(/^failed http:\/\/127\.0\.0\.1:1\/: target_\w+ \S/);
    expect(lines[2]).toMatch(/^saved 127\.0\.0\.1_short-3\.jpg {2}200 /);
    expect(await readdir(place.path)).toEqual(['127.0.0.1_short-3.jpg']);
  });

  it.each([
    [['--format', 'gif'], '--format takes one of png, jpeg, webp'],
    [['--quality', '101'], '--quality takes an integer from 1 to 100'],
    [['--concurrency', '0'], '--concurrency takes an integer from 1'],
    [['--timeout-ms', 'soon'], '--timeout-ms "soon" (from the command line) cannot be'],
    [['http://'], 'shot takes addresses'],
    [['--out-dir', import.meta.filename], '--out-dir takes a directory that can be written to'],
    [['--out-dir', join(import.meta.filename, 'x')], '--out-dir takes a directory that can be written to'],
    [['--out-dir', '/proc/none/x'], '--out-dir takes a directory that can be written to'],
  ])('refuses %j with one line and exit code 2', async (args, line) => {
    const { code, stderr } = await capstan(['shot', 'http://127.0.0.1/', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses an empty list', async () => {
    expect(await capstan(['shot', '-'], { stdin: '\n' })).toMatchObject({ code: 2 });
  });
});

describe('shotFileName', () => {
  const name = (url: string, index = 0, count = 1) =>
    shotFileName({ url, host: new URL(url).hostname, format: 'png' }, index, count);

  it.each([
    ['https://example.com/', 'example.com-1.png'],
    ['https://example.com/a/b.html?q=1#f', 'example.com_a_b.html-1.png'],
    ['https://example.com/../../etc/passwd', 'example.com_etc_passwd-1.png'],
    ['https://example.com/%2e%2e%2f%00%0a', 'example.com_2e_2e_2f_00_0a-1.png'],
    ['http://[::1]:8080/x', '1_x-1.png'],
  ])('of %s is %s', (url, file) => {
    expect(name(url)).toBe(file);
  });

  it('sorts as the addresses were given, and stays short', () => {
    expect(name('https://example.com/', 4, 120)).toBe('example.com-005.png');
    expect(name(`https://example.com/${'x'.repeat(5000)}`).length).toBeLessThan(120);
  });
});

describe('shotLine', () => {
  it('stays in one line and gives no orders to the terminal, whatever the page says', () => {
    const title = 'a\u001b]0;b\u0007\u001b[2Jc\nd\u202ee';
    const line = shotLine({ saved: true, file: 'f.png', status: 200, title });
    expect(line).toBe('saved f.png  200 ac d e');
  });
});
