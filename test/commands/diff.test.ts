import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { makeDirectory } from '../support/temporary-directory.ts';
import { capstan, ground, launch } from './capstan-process.ts';

describe('capstan diff', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await makeDirectory();
    const page = sharp({ create: { width: 200, height: 300, channels: 3, background: 'white' } });
    const box = { create: { width: 40, height: 30, channels: 3, background: 'navy' } } as const;
    await page
      .clone()
      .composite([{ input: box, left: 20, top: 50 }])
      .png()
      .toFile(join(directory, 'before.png'));
    const other = { create: { ...box.create, background: 'red' } } as const;
    await page
      .clone()
      .composite([{ input: other, left: 20, top: 50 }])
      .png()
      .toFile(join(directory, 'after.png'));
    await writeFile(join(directory, 'notes.txt'), 'no image');
  });

  const diff = (...args: readonly string[]) => capstan(['diff', ...args], { cwd: directory });

  it('prints nothing and ends with 0 when nothing differs', async () => {
    expect(await diff('before.png', 'before.png')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('prints the regions, draws them, and ends with 1 when something differs', async () => {
    const { code, stdout } = await diff('before.png', 'after.png', '--output', 'diff.png');
    expect([code, stdout]).toEqual([1, 'edited 40x30+20+50\n2.00 % changed\n']);
    const { width, height } = await sharp(await readFile(join(directory, 'diff.png'))).metadata();
    expect([width, height]).toEqual([416, 300]);
  });

  it('prints JSON, and leaves out what is ignored', async () => {
    const { stdout } = await diff('before.png', 'after.png', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ regions: [{ kind: 'edited', pixels: 1200 }], share: 0.02 });
    expect(await diff('before.png', 'after.png', '--ignore', '0,0,200,100')).toMatchObject({ code: 0, stdout: '' });
  });

  it('decodes large images into a private directory, and removes it on Ctrl-C', async () => {
    const { path, options } = await ground();
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
    const create = { width: 1280, height: 8000, channels: 3, background: 'white', noise } as const;
    for (const name of ['a.png', 'b.png'])
      await sharp({ create }).png({ compressionLevel: 1 }).toFile(join(directory, name));
    const { child } = launch(['diff', join(directory, 'a.png'), join(directory, 'b.png')], options);
    const closed = once(child, 'close');
    const place = await vi.waitFor(
      async () => {
        const found = (await readdir(path, { recursive: true })).find((name) => name.endsWith('.v'));
        if (found === undefined) throw new Error('nothing is decoded yet');
        return join(path, dirname(found));
      },
      { timeout: 60_000, interval: 20 },
    );
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    child.kill('SIGINT');
    expect((await closed)[0]).toBe(130);
    expect(await readdir(path)).toEqual([]);
  });

  it.each([
    [['before.png', 'missing.png'], 'missing.png cannot be read'],
    [['before.png', 'notes.txt'], 'not an image'],
    [['before.png', 'after.png', '--ignore', 'noise'], '--ignore must be a kind'],
    [['before.png'], "missing required argument 'after'"],
  ])('ends with 2 for %j, and says why', async (args, reason) => {
    const { code, stderr } = await diff(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});
