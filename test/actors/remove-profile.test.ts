import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeProfile } from '../../src/actors/launching/remove-profile.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const NOBODY = 65534;

describe('removeProfile', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeDirectory();
    await mkdir(join(folder, 'Default'));
    await writeFile(join(folder, 'Default', 'History'), '');
  });

  it('removes the directory with its content', async () => {
    await removeProfile(folder);
    expect(existsSync(folder)).toBe(false);
  });

  it('accepts a directory that no longer exists', async () => {
    await rm(folder, { recursive: true });
    await removeProfile(folder);
  });

  describe.runIf(process.getuid?.() === 0)('directories of another user (needs root)', () => {
    it('removes a directory of another user with its content', async () => {
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder]);
      await removeProfile(folder);
      expect(existsSync(folder)).toBe(false);
    });

    it('removes a directory that its owner cannot reach', async () => {
      const inside = join(folder, 'profile');
      await mkdir(join(inside, '.hidden'), { recursive: true });
      await writeFile(join(inside, '.hidden', '..name'), '');
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, inside]);
      await removeProfile(inside);
      expect(existsSync(inside)).toBe(false);
    });

    it('removes a directory only with the permissions of its owner', async () => {
      await chown(folder, NOBODY, NOBODY);
      await expect(removeProfile(folder)).rejects.toThrow('Permission denied');
      expect(existsSync(join(folder, 'Default', 'History'))).toBe(true);
    });
  });
});
