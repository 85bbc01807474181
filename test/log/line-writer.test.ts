import { execFileSync } from 'node:child_process';
import { constants, openSync, readFileSync, readSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LineWriter, type Loss } from '../../src/log/line-writer.ts';
import { ground } from '../commands/capstan-process.ts';
import { mountSmallDisk, whyNoTmpfs } from '../faults/tmpfs.ts';

const FILLER = 'filler';
const FLUSH_MS = 10_000;

/** A full pipe, which accepts nothing until it is read. */
function makeFullPipe(directory: string): { readonly fd: number; read(): string } {
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(fd, FILLER);
  } catch {
    // The pipe is full.
  }
  return {
    fd,
    read: () => {
      const buffer = Buffer.alloc(1024 * 1024);
      return buffer.toString('utf8', 0, readSync(fd, buffer)).replaceAll(FILLER, '');
    },
  };
}

describe('LineWriter', () => {
  it('appends lines to a file in order', async () => {
    const place = await ground();
    const file = join(place.path, 'log');
    for (const part of [1, 2]) {
      const writer = new LineWriter({ to: file });
      for (let line = 0; line < 5_000; line += 1) writer.write(`${part} ${line}\n`);
      await writer.flush(FLUSH_MS);
    }
    const expected = [1, 2].flatMap((part) => Array.from({ length: 5_000 }, (_, line) => `${part} ${line}`));
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toEqual(expected);
  });

  it('drops and counts lines that a pipe does not accept, and announces the loss once when the pipe is read', async () => {
    const place = await ground();
    const pipe = makeFullPipe(place.path);
    const losses: Loss[] = [];
    const writer = new LineWriter({ to: pipe.fd, maxWaitingBytes: 100, onRecovered: (loss) => losses.push(loss) });
    for (let count = 0; count < 20; count += 1) writer.write(`number ${count + 10}\n`);
    expect(writer.dropped).toBe(10);
    await writer.flush(500);
    expect(losses).toEqual([]);

    expect(pipe.read()).toBe('');
    await writer.flush(FLUSH_MS);
    writer.write('later\n');
    await writer.flush(FLUSH_MS);
    expect(pipe.read()).toBe(`${Array.from({ length: 10 }, (_, count) => `number ${count + 10}\n`).join('')}later\n`);
    expect(losses).toEqual([{ lines: 10, cause: 'EAGAIN' }]);
  });

  it('continues without an error or a wait when the disk is full', async () => {
    const writer = new LineWriter({ to: '/dev/full', maxWaitingBytes: 100 });
    for (let count = 0; count < 20; count += 1) writer.write('0123456789\n');
    expect(writer.dropped).toBe(11);
    await writer.flush(1);
    writer.flushSync();
  });

  it.skipIf(whyNoTmpfs !== undefined)('writes the waiting lines when the disk has room again', async () => {
    const place = await ground();
    await using disk = await mountSmallDisk(place.path, 64);
    const file = join(disk.path, 'log');
    const losses: Loss[] = [];
    const writer = new LineWriter({ to: file, maxWaitingBytes: 110, onRecovered: (loss) => losses.push(loss) });
    await disk.fill();
    for (let count = 0; count < 15; count += 1) writer.write(`number ${count + 10}\n`);
    expect(writer.dropped).toBe(4);
    await disk.free();
    await writer.flush(FLUSH_MS);
    expect(readFileSync(file, 'utf8')).toBe(
      Array.from({ length: 11 }, (_, count) => `number ${count + 10}\n`).join(''),
    );
    expect(losses).toEqual([{ lines: 4, cause: 'ENOSPC' }]);
  });

  it('writes to a new file of the same name after the file was renamed and reopened', async () => {
    const place = await ground();
    const file = join(place.path, 'log');
    const writer = new LineWriter({ to: file });
    writer.write('before\n');
    await writer.flush(FLUSH_MS);
    renameSync(file, `${file}.1`);
    writer.write('still\n');
    await writer.flush(FLUSH_MS);
    writer.reopen();
    writer.write('after\n');
    await writer.flush(FLUSH_MS);
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('before\nstill\n');
    expect(readFileSync(file, 'utf8')).toBe('after\n');
  });

  it('loses no line when the file is reopened while lines are written', async () => {
    const place = await ground();
    const file = join(place.path, 'log');
    const writer = new LineWriter({ to: file });
    for (let part = 0; part < 20; part += 1) {
      for (let line = 0; line < 100; line += 1) writer.write(`${part} ${line}\n`);
      renameSync(file, `${file}.${part}`);
      writer.reopen();
    }
    await writer.flush(FLUSH_MS);
    const files = [...Array.from({ length: 20 }, (_, part) => `${file}.${part}`), file];
    const lines = files.flatMap((path) => readFileSync(path, 'utf8').split('\n')).filter((line) => line !== '');
    expect(new Set(lines).size).toBe(2_000);
    expect(lines).toHaveLength(2_000);
  });

  it('keeps writing to the old file when the file cannot be reopened', async () => {
    const place = await ground();
    const file = join(place.path, 'directory', 'log');
    execFileSync('mkdir', [join(place.path, 'directory')]);
    const writer = new LineWriter({ to: file });
    renameSync(join(place.path, 'directory'), join(place.path, 'elsewhere'));
    expect(() => writer.reopen()).toThrow('ENOENT');
    writer.write('still here\n');
    await writer.flush(FLUSH_MS);
    expect(readFileSync(join(place.path, 'elsewhere', 'log'), 'utf8')).toBe('still here\n');
  });

  it('writes waiting lines at once in flushSync', async () => {
    const place = await ground();
    const file = join(place.path, 'log');
    const writer = new LineWriter({ to: file });
    writer.write('first\n');
    writer.write('last words\n');
    writer.flushSync();
    expect(readFileSync(file, 'utf8')).toContain('last words\n');
    await writer.flush(FLUSH_MS);
    expect(readFileSync(file, 'utf8').split('\n').sort()).toEqual(['', 'first', 'last words']);
  });
});
