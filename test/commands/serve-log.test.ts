import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { mountSmallDisk, whyNoTmpfs } from '../faults/tmpfs.ts';
import { capstan, type Ground, ground, launch, lineOf, NO_BROWSER, type Served, serve } from './capstan-process.ts';
import { askUntilLinesAreDropped, dropped, makePipe } from './unread-pipe.ts';

const SOURCES = join(import.meta.dirname, '../../src');

function start(place: Ground, args: readonly string[], fds: { readonly stderrFd?: number } = {}): Promise<Served> {
  return serve([...NO_BROWSER, ...args], { ...place.options, ...fds });
}

async function expectAnswersAndStops(service: Served): Promise<void> {
  for (let count = 0; count < 50; count += 1) expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0 });
}

/** The same for a service whose ready line cannot be read: its log has the address. */
async function expectListensAndStops({ child, stderr }: ReturnType<typeof launch>): Promise<void> {
  const ended = once(child, 'close');
  const url = await lineOf(child.stderr, /"address":"(http:[^"]+)","msg":"listening"/);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await stderr).toContain('"msg":"stopped"');
}

describe('the log of capstan serve', () => {
  it('drops lines when standard error is a pipe that is not read, while the service answers and stops', async () => {
    const place = await ground();
    using pipe = makePipe(place);
    const service = await start(place, [], { stderrFd: pipe.writeFd });
    await askUntilLinesAreDropped(service);
    await expectAnswersAndStops(service);
  });

  it('reports in one line how many lines were dropped when the pipe is read again', async () => {
    const place = await ground();
    using pipe = makePipe(place);
    const service = await start(place, [], { stderrFd: pipe.writeFd });
    await askUntilLinesAreDropped(service);
    const lost = await dropped(service);
    let text = '';
    await expect
      .poll(() => {
        text += pipe.read();
        return text.split('\n').filter((line) => line.includes('log lines were dropped'));
      })
      .toEqual([expect.stringMatching(new RegExp(`"level":40,.*"dropped":${lost},"cause":"EAGAIN"`))]);
    await expectAnswersAndStops(service);
    expect(text + pipe.read()).toContain('"msg":"stopped"');
  });

  it('does not stop the service when standard error is a full disk', async () => {
    const place = await ground();
    const full = openSync('/dev/full', 'w');
    const service = await start(place, [], { stderrFd: full });
    closeSync(full);
    await askUntilLinesAreDropped(service);
    await expectAnswersAndStops(service);
  });

  it('writes the address to the log when standard output is on a full disk', async () => {
    const place = await ground();
    const full = openSync('/dev/full', 'w');
    const launched = launch(['serve', '--port', '0', ...NO_BROWSER], { ...place.options, stdoutFd: full });
    closeSync(full);
    await expectListensAndStops(launched);
  });

  it('stops with code 0 when the reader of standard output has exited', async () => {
    const place = await ground();
    using pipe = makePipe(place);
    const launched = launch(['serve', '--port', '0', ...NO_BROWSER], { ...place.options, stdoutFd: pipe.writeFd });
    pipe.hangUp();
    await expectListensAndStops(launched);
  });

  it('does not stop the service when the reader of standard error has exited', async () => {
    const place = await ground();
    using pipe = makePipe(place);
    const service = await start(place, [], { stderrFd: pipe.writeFd });
    pipe.hangUp();
    await askUntilLinesAreDropped(service);
    await expectAnswersAndStops(service);
  });

  it('writes to --log-file, and after a rename and SIGHUP to a new file of that name', async () => {
    const place = await ground();
    const file = join(place.path, 'capstan.log');
    const service = await start(place, ['--log-file', 'capstan.log']);
    await fetch(`${service.url}/before`);
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('"path":"/before"');
    await rename(file, `${file}.1`);
    service.child.kill('SIGHUP');
    await expect.poll(() => existsSync(file)).toBe(true);
    await fetch(`${service.url}/after`);
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(`${file}.1`, 'utf8')).not.toContain('/after');
    expect(readFileSync(file, 'utf8')).toContain('"path":"/after"');
    expect(readFileSync(file, 'utf8')).toContain('"msg":"stopped"');
  });

  it.skipIf(whyNoTmpfs !== undefined)('continues when the disk of --log-file has free space again', async () => {
    const place = await ground();
    const logs = join(place.path, 'logs');
    await mkdir(logs);
    await using disk = await mountSmallDisk(logs, 4096);
    const service = await start(place, ['--log-file', 'logs/capstan.log']);
    await disk.fill();
    await askUntilLinesAreDropped(service);
    await disk.free();
    await expect.poll(() => readFileSync(join(logs, 'capstan.log'), 'utf8')).toContain('"cause":"ENOSPC"');
    await expectAnswersAndStops(service);
    const lines = readFileSync(join(logs, 'capstan.log'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ msg: 'stopped' }));
  });

  it('does not hide an uncaught error when the disk is full: the exit code is 1', async () => {
    const place = await ground();
    const program = `
      import { watchForEnd } from '${SOURCES}/commands/ending.ts';
      import { openLog } from '${SOURCES}/log/log.ts';
      watchForEnd((await openLog({ logLevel: 'info', logFile: '/dev/full' })).logger);
      setTimeout(() => { throw new Error('nobody caught it'); });
    `;
    const args = ['--input-type=module', '--eval', program];
    const child = spawn(process.execPath, args, { cwd: place.path, stdio: ['ignore', 'ignore', 'pipe'] });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    // Node itself would print an unhandled error or a missing module.
    expect({ code, said }).toEqual({ code: 1, said: '' });
  });

  it('refuses to start, with one line, when --log-file cannot be opened', async () => {
    const place = await ground();
    const { code, stdout, stderr } = await capstan(['serve', '--log-file', 'none/capstan.log'], place.options);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^capstan: --log-file none\/capstan.log cannot be opened: ENOENT.*\n$/);
  });

  it('refuses to start, with one line, when --log-file is a pipe, instead of waiting for its reader', async () => {
    const place = await ground();
    execFileSync('mkfifo', [join(place.path, 'pipe')]);
    const { code, stderr } = await capstan(['serve', '--log-file', 'pipe'], place.options);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'capstan: --log-file pipe cannot be opened: it is not a regular file; pipe standard error instead\n',
    );
  });

  it('warns of a file of secrets that other users can read', async () => {
    const place = await ground();
    const modes = { 'keys.txt': 0o644, 'signing.txt': 0o640 };
    for (const [file, mode] of Object.entries(modes)) {
      await writeFile(join(place.path, file), 'a-key-of-thirty-two-characters-x\n', { mode });
      await chmod(join(place.path, file), mode);
    }
    const service = await start(place, ['--api-key-file', 'keys.txt', '--signing-key-file', 'signing.txt']);
    service.child.kill('SIGTERM');
    const { stderr } = await service.ended;
    const warnings = stderr.split('\n').filter((line) => line.includes('file of secrets'));
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, file: 'keys.txt', mode: '0644' }]);
  });
});
