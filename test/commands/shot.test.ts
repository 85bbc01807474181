import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { OPTION_GROUPS } from '../../src/capture/options/groups.ts';
import { saveShot, shotFileName } from '../../src/commands/shot/shot-files.ts';
import { shotLine } from '../../src/commands/shot/shot-report.ts';
import { flagOf } from '../../src/config/options.ts';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capstan, ground, launch } from './capstan-process.ts';
import { sessionForSuite } from './session.ts';

describe('capstan shot', () => {
  const session = sessionForSuite();
  const site = siteForSuite();

  it('saves an image and prints a line for each page, and leaves nothing else behind', async () => {
    const place = await ground();
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
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^2 saved, 0 failed, in [\d.]+ s\n$/) });
    expect(await readdir(place.path)).toEqual(['pictures']);
    const files = (await readdir(join(place.path, 'pictures'))).sort();
    expect(files).toEqual([`127.0.0.1_${site.port}_404-2.png`, `127.0.0.1_${site.port}_short-1.png`]);
    for (const file of files) {
      const image = await readFile(join(place.path, 'pictures', file));
      expect(image.subarray(1, 4).toString('latin1')).toBe('PNG');
    }
    const lines = stdout.trim().split('\n').sort();
    expect(lines[0]).toMatch(/^saved pictures\/127\.0\.0\.1_\d+_404-2\.png {2}404 /);
    expect(lines[1]).toMatch(/^saved pictures\/127\.0\.0\.1_\d+_short-1\.png {2}200 \S/);
    await expect.poll(() => place.browsers()).toEqual([]);
  });

  it('writes outputs beside the image', async () => {
    const place = await ground();
    await writeFile(
      join(place.path, 'rules.json'),
      '{ "heading": "h1", "links": { "selector": "a", "many": true } }\n',
    );
    const args = ['shot', site.url('/short'), '--allow-targets', '127.0.0.1', '-o', 'port.webp', '--outputs', 'text'];
    args.push('--outputs', 'har', '--har', 'bodies=true');
    const rules = ['--extract', 'rules.json', '--extract', 'first=//p'];
    expect((await capstan([...args, ...rules], place.options)).code).toBe(0);
    expect((await readdir(place.path)).sort()).toEqual([
      'port.extract.json',
      'port.har',
      'port.txt',
      'port.webp',
      'rules.json',
    ]);
    const values = JSON.parse(await readFile(join(place.path, 'port.extract.json'), 'utf8'));
    expect(values).toEqual({ heading: expect.any(String), links: expect.any(Array), first: expect.any(String) });
    expect(await readFile(join(place.path, 'port.txt'), 'utf8')).toContain('A small port with deep water\n');
    const [page] = JSON.parse(await readFile(join(place.path, 'port.har'), 'utf8')).log.entries;
    expect(page.response.content.text).toContain('A small port with deep water');
  });

  it('names a file of rules that cannot be read, and a bad rule', async () => {
    const none = await session(['shot', site.url('/short'), '--extract', 'none.json']);
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining('--extract takes a JSON file, but none.json'),
    ]);
    const bad = await session(['shot', site.url('/short'), '--extract', '{"price": {"type": "currency"}}']);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('--extract.price type: must be text,')]);
  });

  it.concurrent('warns of an image that its format cuts, and names the remedy', async () => {
    const place = await ground();
    const args = ['shot', site.url('/tall?px=20000'), '--allow-targets', '127.0.0.1', '--out-dir', '.'];
    const { code, stderr } = await capstan(
      [...args, '--full-page', '--format', 'webp', '--timeout-ms', '120000'],
      place.options,
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^truncated \S+\.webp: shows 16383 of 20000 px: the format holds no more; --format png does\n/,
    );
  });

  it.concurrent('warns of a partial image on standard error, and marks it in the JSON output', async () => {
    const place = await ground();
    const args = ['shot', site.url('/never'), site.url('/short'), '--allow-targets', '127.0.0.1', '--out-dir', '.'];
    const { code, stdout, stderr } = await capstan([...args, '--timeout-ms', '20000', '--json'], place.options);
    const file = `127.0.0.1_${site.port}_never-1.png`;
    const [warning, summary, ...more] = stderr.trim().split('\n');
    expect({ code, warning, more }).toEqual({
      code: 0,
      warning: `partial ${file}: the time was over in the phase load; --timeout-ms gives the page more`,
      more: [],
    });
    expect(summary).toMatch(/^2 saved \(1 partial\), 0 failed, in /);
    const shots = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ file, result: { partial, partial_phase } }) => ({ file, partial, partial_phase }));
    expect(shots).toContainEqual({ file, partial: true, partial_phase: 'load' });
    expect(shots).toContainEqual(expect.objectContaining({ partial: false, partial_phase: '' }));
  });

  it.concurrent('continues after a failure, reports it, and exits with code 1', async () => {
    const place = await ground();
    const { code, stdout } = await capstan(
      // Without a scheme: https is tried first, and http when the server does not speak TLS.
      [
        'shot',
        '-',
        `127.0.0.1:${site.port}/short`,
        '--allow-targets',
        '127.0.0.1',
        '--format',
        'jpg',
        '--out-dir',
        '.',
      ],
      { ...place.options, stdin: 'http://10.1.2.3/x\n\nhttp://127.0.0.1:1/\n' },
    );
    expect(code).toBe(1);
    const lines = stdout.trim().split('\n').sort();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^failed http:\/\/10\.1\.2\.3\/x: target_forbidden \S/);
    expect(lines[1]).toMatch(/^failed http:\/\/127\.0\.0\.1:1\/: target_\w+ \S/);
    expect(lines[2]).toMatch(/^saved 127\.0\.0\.1_\d+_short-3\.jpg {2}200 /);
    expect(await readdir(place.path)).toEqual([`127.0.0.1_${site.port}_short-3.jpg`]);
  });

  it.each([
    [['--format', 'gif'], '--format takes one of png, jpeg, webp'],
    [['--quality', '101'], '--quality takes an integer from 1 to 100'],
    [['--concurrency', '0'], '--concurrency takes an integer from 1'],
    [['--timeout-ms', 'soon'], '--timeout-ms "soon" (from the command line) is not valid'],
    [['http://'], 'shot takes URLs'],
    [['http://127.0.0.2/', '-o', 'x.png'], '--output takes a single page'],
    [['-o', 'x.gif'], '--output takes a file that ends with .png'],
    [['-o', 'x.avif'], '--output takes a file that ends with .png'],
    [['-o', 'x.svg'], '--output takes a file that ends with .png'],
    [['-o', 'x.html'], '--output takes a file that ends with .png'],
    [['-o', 'x.PNG.bak'], '--output takes a file that ends with .png'],
    [['-o', '-'], '--output takes the path of a file'],
    [['-o', 'dir/'], '--output takes the path of a file'],
    [['-o', import.meta.dirname], '--output takes the path of a file'],
    [['-o', 'x.png', '--format', 'webp'], '"x.png" names the format png, and --format says webp'],
    [['--list', '/none'], '--list takes a file with one URL per line'],
    [['--viewport', 'width=0,height=1'], '--viewport.width must be an integer of CSS pixels from 1 to 4096'],
    [['--viewport', '800'], '--viewport takes name=value or JSON'],
    [['--actions', '{'], '--actions takes JSON'],
    [
      ['--full-page', '--clip', 'x=0,y=0,width=1,height=1'],
      '--clip cannot be combined with fullPage: remove one of them',
    ],
    [['--device', 'iPhone 1000'], '--device is not a known device'],
    [['--out-dir', import.meta.filename], '--out-dir takes a directory that can be written to'],
    [['--out-dir', join(import.meta.filename, 'x')], '--out-dir takes a directory that can be written to'],
    [['--out-dir', '/proc/none/x'], '--out-dir takes a directory that can be written to'],
  ])('refuses %j with one line and exit code 2', async (args, line) => {
    const { code, stderr } = await session(['shot', 'http://127.0.0.1/', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('takes every capture option as a flag', async () => {
    const place = await ground();
    const args = ['shot', site.url('/short'), '--allow-targets', '127.0.0.1', '-o', 'made/page.webp', '--json'];
    const options = [
      '--viewport',
      'width=300,height=200',
      '--headers',
      'X-Trace: a,b=c',
      '--hide',
      'h1',
      '--hide',
      'p',
    ];
    const actions = ['--actions', '{"type":"wait","ms":1}', '--cookies', 'name=a,value=b', '--evidence', 'headers'];
    const { code, stdout } = await capstan([...args, ...options, ...actions], place.options);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      url: site.url('/short'),
      file: 'made/page.webp',
      result: { width: 300, height: 200, format: 'webp', response_code: 200 },
      evidence: { headers: { items: expect.any(Array) } },
      error: null,
    });
    const { headers } = site.requests.findLast(({ url }) => url === '/short') ?? {};
    expect(headers).toMatchObject({ 'x-trace': 'a,b=c', cookie: 'a=b' });
    const image = await readFile(join(place.path, 'made/page.webp'));
    expect(image.subarray(8, 12).toString('latin1')).toBe('WEBP');
  });

  it('accepts lists with comments and blank lines, reports an invalid line and captures the rest', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'urls.txt'), `# pages\n\n${site.url('/short')}\r\nhttp://\n`);
    const args = ['shot', '--list', 'urls.txt', '--allow-targets', '127.0.0.1', '--out-dir', 'images'];
    const { code, stdout, stderr } = await capstan(args, place.options);
    expect(code).toBe(1);
    const [bad, saved, ...more] = stdout.trim().split('\n');
    expect(bad).toMatch(/^failed urls\.txt:4: invalid_request \S/);
    expect(saved).toMatch(/^saved images\//);
    expect(more).toEqual([]);
    expect(stderr).toMatch(/^1 saved, 1 failed, in /);
  });

  it('reads lists in UTF-16 with a byte order mark, as Windows PowerShell writes them', async () => {
    const place = await ground();
    const text = '\ufeffhttp://\r\n';
    await writeFile(join(place.path, 'little.txt'), Buffer.from(text, 'utf16le'));
    await writeFile(join(place.path, 'big.txt'), Buffer.from(text, 'utf16le').swap16());
    await writeFile(join(place.path, 'utf8.txt'), text);
    const args = ['little.txt', 'big.txt', 'utf8.txt'].flatMap((name) => ['--list', name]);
    const { stdout } = await capstan(['shot', ...args, '--json'], place.options);
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).url)).toEqual(['http://', 'http://', 'http://']);
  });

  it('names the file and line number of an invalid line in the field "line" with --json', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'urls.txt'), '# pages\nhttp://\n');
    const { code, stdout } = await capstan(['shot', '--list', 'urls.txt', '--json'], place.options);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      url: 'http://',
      line: 'urls.txt:2',
      file: null,
      code: 'invalid_request',
      error: expect.any(String),
    });
  });

  it('overwrites no file without --force', async () => {
    const place = await ground();
    const shot = (...more: readonly string[]) =>
      capstan(['shot', site.url('/short'), '--allow-targets', '127.0.0.1', '-o', 'page.png', ...more], place.options);
    await writeFile(join(place.path, 'page.png'), 'mine');
    expect(await shot()).toMatchObject({ code: 1, stdout: expect.stringContaining('file_exists page.png exists') });
    expect(await readFile(join(place.path, 'page.png'), 'utf8')).toBe('mine');
    expect(await shot('--force')).toMatchObject({ code: 0 });
    expect((await readFile(join(place.path, 'page.png'))).subarray(1, 4).toString('latin1')).toBe('PNG');
  });

  it('exits with code 130 and a summary on Ctrl-C', async () => {
    const place = await ground();
    const requested = site.hits('/hang');
    const args = ['shot', site.url('/hang'), '--allow-targets', '127.0.0.1'];
    const { child, stderr } = launch(args, place.options);
    const ended = once(child, 'close');
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(await stderr).toMatch(/^0 saved, 0 failed, 1 not captured, in /);
    await expect.poll(() => place.browsers()).toEqual([]);
  });

  it('names the default log level in --help', async () => {
    const { stdout } = await session(['shot', '--help']);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/--log-level <level> .*? Default: error,/);
    for (const name of Object.keys(OPTION_GROUPS.screenshot)) expect(stdout).toContain(flagOf(name));
  });

  it('refuses an empty list', async () => {
    expect(await capstan(['shot', '-'], { stdin: '\n' })).toMatchObject({ code: 2 });
  });
});

describe('saveShot', () => {
  it('rejects with the error of reading when the file has been removed meanwhile', async () => {
    const file = join((await ground()).path, 'page.png');
    async function* content() {
      yield 'begun';
      await expect.poll(() => existsSync(file)).toBe(true);
      await rm(file);
      throw new Error('the connection broke');
    }
    const capture = {
      result: exampleResult(exampleId(1)),
      evidence: null,
      outputs: [],
      open: async () => Readable.from(content()),
    };
    await expect(saveShot(capture, { file, dir: '.', force: false }, 0, 1)).rejects.toThrow('the connection broke');
  });
});

describe('shotFileName', () => {
  const name = (url: string, index = 0, count = 1) =>
    shotFileName({ url, host: new URL(url).hostname, format: 'png' }, index, count);

  it.each([
    ['https://example.com/', 'example.com-1.png'],
    ['https://example.com/a/b.html?q=1#f', 'example.com_a_b.html_q_1-1.png'],
    ['http://example.com:8080/s/code?c=404', 'example.com_8080_s_code_c_404-1.png'],
    ['https://con/', 'con-1.png'],
    ['https://example.com/../../etc/passwd', 'example.com_etc_passwd-1.png'],
    ['https://example.com/%2e%2e%2f%00%0a', 'example.com_2e_2e_2f_00_0a-1.png'],
    ['http://[::1]:8080/x', '1_8080_x-1.png'],
  ])('returns for %s the name %s', (url, file) => {
    expect(name(url)).toBe(file);
  });

  it('returns names of limited length that sort in the order of the addresses', () => {
    expect(name('https://example.com/', 4, 120)).toBe('example.com-005.png');
    expect(name(`https://example.com/${'x'.repeat(5000)}`).length).toBeLessThan(120);
  });
});

describe('shotLine', () => {
  it("returns one line without terminal escape sequences, whatever the page's title", () => {
    const title = 'a\u001b]0;b\u0007\u001b[2Jc\nd\u202ee';
    const line = shotLine({ saved: true, file: 'f.png', status: 200, title });
    expect(line).toBe('saved f.png  200 ac d e');
  });
});
