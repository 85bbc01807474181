import { once } from 'node:events';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listening } from '../egress/listening.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';
import { capstan, ground, launch } from './capstan-process.ts';

const KEY = 'the-key-of-the-command-line';

describe('capstan shot --server', () => {
  const site = siteForSuite();
  const app = serviceForSuite({}, { apiKey: [KEY] });
  const at = (...args: readonly string[]) => ['shot', '--server', app.baseUrl, '--api-key', KEY, ...args];

  it('saves the images and outputs of a service, and starts no browser', async () => {
    const place = await ground();
    const args = at(site.url('/short'), site.url('/404'), 'http://10.1.2.3/', '--outputs', 'text', '--out-dir', '.');
    const { code, stdout, stderr } = await capstan([...args, '--format', 'webp'], place.options);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^2 saved, 1 failed, in [\d.]+ s\n$/) });
    const [failed, missing, short, ...more] = stdout.trim().split('\n').sort();
    expect(failed).toMatch(/^failed http:\/\/10\.1\.2\.3\/: target_forbidden \S/);
    expect(missing).toMatch(/^saved 127\.0\.0\.1_\d+_404-2\.webp {2}404 /);
    expect(short).toMatch(/^saved 127\.0\.0\.1_\d+_short-1\.webp {2}200 \S/);
    expect(more).toEqual([]);
    const stems = [`127.0.0.1_${site.port}_404-2`, `127.0.0.1_${site.port}_short-1`];
    expect((await readdir(place.path)).sort()).toEqual(stems.flatMap((stem) => [`${stem}.txt`, `${stem}.webp`]));
    expect(await readFile(join(place.path, `${stems[1]}.txt`), 'utf8')).toContain('A small port with deep water\n');
    const stored = await app.call(`/results/by-url?url=${encodeURIComponent(site.url('/short'))}`, {
      headers: { Authorization: `Bearer ${KEY}` },
    });
    const { data } = (await stored.json()) as { data: readonly { screenshot: string }[] };
    const image = await app.call(data[0]?.screenshot ?? '', { headers: { Authorization: `Bearer ${KEY}` } });
    expect(await readFile(join(place.path, `${stems[1]}.webp`))).toEqual(Buffer.from(await image.arrayBuffer()));
  });

  it('names the file that a full disk cannot hold, and leaves no part of it', async () => {
    const place = await ground();
    const through = ['sh', '-c', 'ulimit -f 2; exec "$@"', 'sh'];
    const args = at(site.url('/short'), '--out-dir', '.');
    const { code, stderr } = await capstan(args, { ...place.options, through });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^capstan: 127\.0\.0\.1_\d+_short-1\.png cannot be written: EFBIG.*$/m),
    });
    expect(await readdir(place.path)).toEqual([]);
  });

  it('leaves no part of an image behind a symbolic link, and the link itself', async () => {
    const place = await ground();
    await symlink('image.png', join(place.path, 'link.png'));
    const through = ['sh', '-c', 'ulimit -f 2; exec "$@"', 'sh'];
    const args = at(site.url('/short'), '--output', 'link.png', '--force');
    const { code, stderr } = await capstan(args, { ...place.options, through });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^capstan: link\.png cannot be written: EFBIG.*$/m),
    });
    expect(await readdir(place.path)).toEqual(['link.png']);
  });

  it('writes the result with its evidence as JSON, and the lines of a list that are no URL', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'urls.txt'), `${site.url('/short')}\nhttp://\n`);
    const args = at(
      '--list',
      'urls.txt',
      '--json',
      '--evidence',
      'headers',
      '--out-dir',
      '.',
      '--timeout-ms',
      '200000',
    );
    const { code, stdout } = await capstan(args, place.options);
    expect(code).toBe(1);
    const [bad, saved] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(bad).toMatchObject({ line: 'urls.txt:2', code: 'invalid_request' });
    expect(saved).toMatchObject({
      url: site.url('/short'),
      result: { id: expect.any(Number), response_code: 200 },
      evidence: { headers: { items: expect.any(Array) } },
      error: null,
    });
  });

  it('ends the captures of the service on Ctrl-C', async () => {
    const place = await ground();
    const requested = site.hits('/hang');
    const { child, stderr } = launch(at(site.url('/hang')), place.options);
    const ended = once(child, 'close');
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(await stderr).toMatch(/^0 saved, 0 failed, 1 not captured, in /);
    await expect.poll(async () => (await app.service.inFlight({ limit: 1 })).captures).toEqual([]);
  });

  it.concurrent.each(['shot', 'stability'])(
    'ends %s with an error when the service does not answer',
    async (command) => {
      const place = await ground();
      await using silent = await listening(createServer());
      const server = `http://name:secret@127.0.0.1:${silent.port}`;
      const { code, stderr } = await capstan([command, site.url('/short'), '--server', server], place.options);
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`http://127.0.0.1:${silent.port}/?: no answer for 15 s\\.`));
      expect(stderr).not.toContain('secret');
    },
  );

  it.concurrent('says in one line, without credentials, that the key is wrong, and that nobody answers', async () => {
    const place = await ground();
    const refused = await capstan(['shot', '--server', app.baseUrl, site.url('/short')], place.options);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^0 saved, .*\ncapstan: \S+: .*API key.*\n$/),
    ]);
    const gone = `http://127.0.0.1:${await freePort()}`;
    const withPassword = gone.replace('://', '://me:hidden@');
    const nobody = await capstan(['shot', '--server', withPassword, site.url('/short')], place.options);
    expect([nobody.code, nobody.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`capstan: ${gone}/?: The service cannot be reached: connect ECONNREFUSED \\S+\\n$`),
      ),
    ]);
  });

  it.concurrent('says in one line that the service speaks no TLS', async () => {
    const server = createServer((socket) =>
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    await using plain = await listening(server);
    const place = await ground();
    const args = ['shot', '--server', `https://127.0.0.1:${plain.port}`, site.url('/short')];
    const { code, stderr } = await capstan(args, place.options);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ cannot be reached: SSL routines: \w[\w ]*\n$/)]);
  });

  it.concurrent.each([
    ['closes the connection', '', 'the proxy closed the connection'],
    [
      'refuses',
      'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
      /Proxy response \(403\)/.source,
    ],
  ])('ends with one line after a few attempts when the proxy of the environment %s', async (_, answer, reason) => {
    const place = await ground();
    let attempts = 0;
    const server = createServer((socket) => {
      attempts += 1;
      socket.on('error', () => undefined).once('data', () => socket.end(answer));
    });
    await using proxy = await listening(server);
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: '' };
    const { code, stderr } = await capstan(['shot', '--server', 'http://service.test', site.url('/short')], {
      ...place.options,
      env,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`\\ncapstan: http://service.test: The service cannot be reached: .*${reason}.*\\n$`),
    );
    expect(attempts).toBe(6);
  });

  it.each(['Content-Type: text/html\r\n\r\n<h1>Log in</h1>', 'Content-Type: application/x-ndjson\r\n\r\nhello\n'])(
    'says in one line that something else than a service answers: %j',
    async (answer) => {
      const place = await ground();
      const server = createServer((socket) => {
        socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n${answer}`));
      });
      await using proxy = await listening(server);
      const origin = `http://127.0.0.1:${proxy.port}`;
      const { code, stderr } = await capstan(['shot', '--server', origin, site.url('/short')], place.options);
      expect(code).toBe(1);
      expect(stderr.trim().split('\n').at(-1)).toContain(`capstan: ${origin}: The answer is not that of Capstan`);
    },
  );
});
