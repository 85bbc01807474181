import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { listening } from '../egress/listening.ts';
import { capstan, ground, NO_BROWSER, serve } from './capstan-process.ts';
import { sessionForSuite } from './session.ts';

describe('capstan', () => {
  const session = sessionForSuite();

  it('prints its help when run without arguments', async () => {
    const { code, stdout } = await session([]);
    expect(code).toBe(0);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const all = 'serve mcp shot sign db diff scan stability watch export doctor ip help';
    expect(commands.join(' ')).toBe(all);
  });

  it.each([
    [['srve'], "capstan: unknown command 'srve' (Did you mean serve?)\n"],
    [['serve', '--prot', '1'], "capstan: unknown option '--prot' (Did you mean --port?)\n"],
    [['serve', '--port'], "capstan: option '--port <n>' argument missing\n"],
    [
      ['serve', '--port', 'x'],
      'capstan: --port "x" (from the command line) is not valid; it takes an integer from 0 to 65535\n',
    ],
    [['serve', '--db-path', 'a', '--mongo-url', 'mongodb://me:hush@h/d'], /^capstan: two databases: (?!.*hush).*\n$/],
  ])('refuses %j with one line and exit code 2', async (args, line) => {
    const { code, stdout, stderr } = await session(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});

describe('capstan serve --print-config', () => {
  it('prints the effective configuration with secrets masked, and exits', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'mine.json'), '{"maxQueue": 7, "maxBatch": 7, "timeoutMs": 7}');
    await writeFile(join(place.path, 'keys'), 'hush-three\n');
    const args = ['--config', 'mine.json', '--api-key', 'hush-one', '--api-key', 'hush-two', '--api-key-file', 'keys'];
    const { code, stdout, stderr } = await capstan(
      ['serve', '--print-config', ...args, '--max-queue', '5', '--no-ipinfo', '--allow-targets', '10.0.0.0/8,::1'],
      {
        ...place.options,
        env: { CAPSTAN_MAX_BATCH: '6', CAPSTAN_MAX_QUEUE: '6', CAPSTAN_IPINFO: '1', CAPSTAN_IPINFO_KEY: 'hush-four' },
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('hush');
    expect(JSON.parse(stdout)).toMatchObject({
      maxQueue: 5,
      maxBatch: 6,
      timeoutMs: 7,
      apiKey: ['***', '***', '***'],
      ipinfo: false,
      ipinfoKey: '***',
      allowTargets: ['10.0.0.0/8', '::1'],
    });
  });

  it('reports an invalid value of a variable or file with its source', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'mine.json'), '{"retireAfter": 0}');
    const inFile = await capstan(['serve', '--config', 'mine.json'], place.options);
    expect(inFile).toMatchObject({ code: 2, stdout: '' });
    expect(inFile.stderr).toBe(
      'capstan: --retire-after 0 (from mine.json) is not valid; it takes an integer from 1 to 1000000 (captures)\n',
    );
    const inVariable = await capstan(['serve'], { env: { CAPSTAN_SANDBOX: 'maybe' } });
    expect(inVariable.stderr).toBe(
      'capstan: --sandbox maybe (from the environment, CAPSTAN_SANDBOX) is not valid; it takes one of auto, on, off\n',
    );
  });
});

describe('capstan serve', () => {
  it('prints one line with the address on standard output, and structured logs on standard error, without secrets', async () => {
    const place = await ground();
    const flags = ['--api-key', 'sesame-right', '--max-queue', '7', '--log-level', 'trace', '--db-path', 'results.db'];
    const { url, child, ended } = await serve([...NO_BROWSER, ...flags], place.options);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    const statuses = [];
    for (const headers of [
      { 'x-api-key': 'sesame-right' },
      { authorization: 'Bearer sesame-right' },
      { authorization: 'Bearer sesame-wrong' },
    ]) {
      statuses.push((await fetch(`${url}/stats`, { headers })).status);
    }
    expect(statuses).toEqual([200, 200, 401]);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `capstan listening on ${url}\n` });
    const lines = stderr.trim().split('\n');
    const [first, ...more] = lines.map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      msg: 'starting',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      config: { apiKey: ['***'], maxQueue: 7, port: 0 },
    });
    expect(more).toContainEqual(expect.objectContaining({ msg: 'stopped' }));
    expect(stderr).toContain('/stats');
    expect(stderr).not.toContain('sesame');
  });

  it('warns only when clients on other machines can capture without a key', async () => {
    const warned = async (...args: string[]) => {
      const place = await ground();
      const { child, ended } = await serve([...NO_BROWSER, ...args], place.options);
      child.kill('SIGTERM');
      return (await ended).stderr.includes('set --api-key');
    };
    expect(
      await Promise.all([warned('--host', '0.0.0.0'), warned('--host', '0.0.0.0', '--api-key', 'k'), warned()]),
    ).toEqual([true, false, false]);
  });

  it('exits with code 1 and one line that names both versions when a later version wrote the database', async () => {
    const place = await ground();
    const { child, ended } = await serve([...NO_BROWSER, '--db-path', 'results.db'], place.options);
    child.kill('SIGTERM');
    await ended;
    const later = new DatabaseSync(join(place.path, 'results.db'));
    later.exec('PRAGMA user_version = 900');
    later.close();
    const args = ['serve', '--port', '0', '--db-path', 'results.db', '--log-level', 'silent'];
    const { code, stdout, stderr } = await capstan(args, place.options);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^capstan: .*schema version 900, and this version of Capstan knows versions up to \d+: .*\n$/,
    );
  });

  it('exits with code 1 and one line when the address is in use, and leaves nothing behind', async () => {
    const place = await ground();
    await using taken = await listening(createServer());
    const port = String(taken.port);
    const { code, stdout, stderr } = await capstan(['serve', '--port', port, '--log-level', 'silent'], place.options);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^capstan: .*EADDRINUSE.*\n$/);
    expect(stderr).toContain(port);
    await expect.poll(() => place.browsers()).toEqual([]);
  });
});
