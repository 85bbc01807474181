import { open, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openWithSize } from '../../../src/capture/basics/open-with-size.ts';
import { makeDirectory } from '../../support/temporary-directory.ts';

describe('a file opened with its size', () => {
  const written = async () => {
    const path = join(await makeDirectory(), 'file');
    await writeFile(path, '12345');
    return path;
  };
  const isOpen = async (path: string) => {
    const names = await readdir('/proc/self/fd');
    const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
    return targets.includes(path);
  };

  it('returns an open file and its size in bytes', async () => {
    const path = await written();
    const { file, bytes } = await openWithSize(path);
    expect([bytes, await isOpen(path)]).toEqual([5, true]);
    await file.close();
  });

  it('closes the file when its size cannot be read', async () => {
    const path = await written();
    const other = await open(path);
    const stat = vi.spyOn(Object.getPrototypeOf(other), 'stat').mockRejectedValueOnce(new Error('EIO'));
    onTestFinished(() => stat.mockRestore());
    await other.close();
    await expect(openWithSize(path)).rejects.toThrow('EIO');
    expect(await isOpen(path)).toBe(false);
  });
});
