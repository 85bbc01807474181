import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BRISBANE, body, hangUp, json, silence, Upstream } from '../ipinfo/upstream.ts';
import { capstan, ground } from './capstan-process.ts';
import { sessionForSuite } from './session.ts';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function ended({ code, stdout: out, stderr: err }: { code: number | null; stdout: string; stderr: string }): Ended {
  return { code, out, err };
}

describe('capstan ip', () => {
  let upstream: Upstream;
  const session = sessionForSuite();

  beforeEach(async () => {
    upstream = await new Upstream().listen();
  });
  afterEach(() => upstream[Symbol.asyncDispose]());

  const run = async (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
    ended(await session(['ip', ...args], { CAPSTAN_IPINFO_URL: upstream.url, ...env }));

  /** Runs the command in a process of its own. */
  const runAlone = async (args: readonly string[]): Promise<Ended> =>
    ended(await capstan(['ip', ...args], { env: { CAPSTAN_IPINFO_URL: upstream.url } }));

  it("exits with 0 after an answer, and with the failure's code after a failure", async () => {
    expect(await runAlone(['1.1.1.1', '--field', 'ip'])).toMatchObject({ code: 0, err: '' });
    upstream.answer = body(404, '');
    expect(await runAlone(['1.1.1.1'])).toMatchObject({ code: 7, out: '' });
  });

  it('prints a record as indented JSON', async () => {
    const { code, out, err } = await run(['1.1.1.1']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`${JSON.stringify(BRISBANE, null, 2)}\n`);
    expect(upstream.seen[0]?.path).toBe('/1.1.1.1/json/');
  });

  it("looks up the caller's own address, a field, and both together", async () => {
    expect(await run(['me'])).toMatchObject({ code: 0, out: expect.stringContaining('"Brisbane"') });
    upstream.answer = body(200, 'AS13335\n');
    expect(await run(['1.1.1.1', '--field', 'asn'])).toEqual({ code: 0, out: 'AS13335\n', err: '' });
    expect(await run(['me', '--field', 'asn'])).toEqual({ code: 0, out: 'AS13335\n', err: '' });
    expect(upstream.seen.map(({ path }) => path)).toEqual(['/json/', '/1.1.1.1/asn/', '/asn/']);
  });

  it('prints fields, JSON and errors without characters that a terminal obeys', async () => {
    const hostile = 'Bris\u009b31mbane \u001b[2Jcity';
    upstream.answer = body(200, hostile);
    const field = await run(['1.1.1.1', '--field', 'city']);
    upstream.answer = json(200, { ...BRISBANE, city: hostile });
    const record = await run(['1.1.1.1']);
    upstream.answer = json(200, { error: true, reason: hostile });
    const failed = await run(['1.1.1.1']);
    for (const { out, err } of [field, record, failed]) expect(out + err).not.toMatch(/[^\P{Cc}\n]/u);
    expect([field.code, field.out]).toEqual([0, 'Brisbane city\n']);
    expect(JSON.parse(record.out)).toMatchObject({ city: hostile });
    expect(failed.err).toContain('Brisbane city');
  });

  it('prints the other formats byte for byte', async () => {
    upstream.answer = body(200, 'ip,city\r\n1.1.1.1,Brisbane');
    expect(await run(['1.1.1.1', '--format', 'csv'])).toEqual({ code: 0, out: 'ip,city\r\n1.1.1.1,Brisbane', err: '' });
    expect(await run(['me', '--format', 'yaml'])).toMatchObject({ code: 0, out: 'ip,city\r\n1.1.1.1,Brisbane' });
    expect(upstream.seen.map(({ path }) => path)).toEqual(['/1.1.1.1/csv/', '/yaml/']);
  });

  it('prints the quota with the key from the environment, which the flag overrides', async () => {
    upstream.answer = json(200, { available: 12345 });
    const { code, out } = await run(['--quota'], { CAPSTAN_IPINFO_KEY: 'from-env' });
    expect([code, JSON.parse(out)]).toEqual([0, { available: '12345', remaining: 12345 }]);
    await run(['--quota', '--key', 'from-flag', '--url', `${upstream.url}base`], { CAPSTAN_IPINFO_KEY: 'from-env' });
    expect(upstream.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/quota/', 'Bearer from-env'],
      ['/base/quota/', 'Bearer from-flag'],
    ]);
  });

  it('reads the key from --key-file, and from the file that CAPSTAN_IPINFO_KEY_FILE names', async () => {
    const place = await ground();
    const file = join(place.path, 'key');
    await writeFile(file, 'from-file\n');
    upstream.answer = json(200, { available: 12345 });
    expect(await run(['--quota', '--key-file', file])).toMatchObject({ code: 0, err: '' });
    expect(await run(['--quota'], { CAPSTAN_IPINFO_KEY_FILE: file })).toMatchObject({ code: 0, err: '' });
    expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer from-file'));
  });

  it('exits with 2 for a --key-file that does not have exactly one line, without showing its content', async () => {
    const place = await ground();
    const file = join(place.path, 'key');
    await writeFile(file, 's3cret\nanother\n');
    const { code, out, err } = await run(['8.8.8.8', '--key-file', file]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(`capstan ip: --key-file ${file} is not valid; it takes a file with one line\n`);
    expect(upstream.sends).toBe(0);
  });

  it.each<[string, readonly string[]]>([
    ['nothing', []],
    ['--key and --key-file', ['8.8.8.8', '--key', 'a', '--key-file', '/etc/hostname']],
    ['a --key-file that is missing', ['8.8.8.8', '--key-file', '/nonexistent/key']],
    ['an address and --quota', ['8.8.8.8', '--quota']],
    ['--field and --format', ['8.8.8.8', '--field', 'city', '--format', 'csv']],
    ['an unknown field', ['8.8.8.8', '--field', 'colour']],
    ['an unknown format', ['8.8.8.8', '--format', 'toml']],
    ['an invalid timeout', ['8.8.8.8', '--timeout-ms', 'soon']],
    ['an invalid base address', ['8.8.8.8', '--url', 'ftp://x/']],
    ['a bad key', ['8.8.8.8', '--key', 'two words']],
  ])('exits with 2 for %s, without a request', async (_what, args) => {
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^capstan ip: .+\n$/);
    expect(upstream.sends).toBe(0);
  });

  it.each<[number, string, Upstream['answer'], readonly string[]]>([
    [3, 'an invalid address', silence, ['8.8.8.8/24']],
    [4, 'a reserved address', json(200, { ip: '10.0.0.1', reserved: true }), ['10.0.0.1']],
    [5, 'a bad key', json(403, { error: true, reason: 'Invalid Key' }), ['8.8.8.8', '--key', 's3cret']],
    [6, 'a used-up allowance', json(429, { error: true, reason: 'RateLimited' }), ['8.8.8.8']],
    [7, 'a 404', body(404, ''), ['8.8.8.8']],
    [8, 'a 405', body(405, ''), ['8.8.8.8']],
    [9, 'a 500', body(500, ''), ['8.8.8.8']],
    [10, 'a 418', body(418, ''), ['8.8.8.8']],
    [11, 'a broken connection', hangUp, ['8.8.8.8']],
    [12, 'a timeout', silence, ['8.8.8.8', '--timeout-ms', '50']],
    [13, 'a body that is too large', body(200, 'x'.repeat(2 * 1024 * 1024)), ['8.8.8.8']],
    [14, 'a body that is not JSON', body(200, '<html>'), ['8.8.8.8']],
  ])('exits with %i for %s', async (exitCode, _what, answer, args) => {
    upstream.answer = answer;
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([exitCode, '']);
    expect(err).toMatch(/^capstan ip: .+\n$/);
    expect(err).not.toContain('s3cret');
  });

  it('prints one line for any error of the upstream', async () => {
    upstream.answer = json(403, { error: true, reason: 'Invalid Key', message: 'a\nb\u001b[31mc' });
    expect((await run(['8.8.8.8', '--key', 'k3y'])).err).toBe('capstan ip: The key is not valid. a bc\n');
  });

  it('documents every exit code in its help', async () => {
    const { code, out } = await runAlone(['--help']);
    expect(code).toBe(0);
    for (let exitCode = 0; exitCode <= 14; exitCode += 1) expect(out).toMatch(new RegExp(`^ +${exitCode}  \\w`, 'm'));
    for (const name of ['CAPSTAN_IPINFO_URL', 'CAPSTAN_IPINFO_KEY', '--field', '--format', '--quota'])
      expect(out).toContain(name);
  });
});
