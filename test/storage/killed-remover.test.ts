import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { databaseFile, keepPicture, openParts } from './parts.ts';

const ID = 300_000_000_000_000;
const IDS = [0, 1, 2, 3].map((at) => ID + at);
const REMOVED = IDS.slice(0, 3);

describe('a process killed while it removes captures', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await makeDirectory();
  });

  async function removeAndDie(step: string): Promise<void> {
    const script = join(import.meta.dirname, 'killed-remover.ts');
    const child = spawn(process.execPath, ['--no-warnings', script, directory, step, REMOVED.join(',')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
  }

  const workspaces = () => readdir(join(directory, 'data', 'workspaces'));

  it.each(['intended', 'records removed', 'some files removed', 'files removed'])(
    'leaves no record without its files when killed at the step "%s"; the next process completes the removal',
    async (step) => {
      const before = await openParts(directory);
      for (const id of IDS) await keepPicture(before.captureStore, id);
      await removeAndDie(step);

      // The ids as the surviving processes see them.
      const records = await before.results.page({ by: 'all' }, 10);
      expect(records).toHaveLength(step === 'intended' ? 4 : 1);
      const files = (await before.artifacts.list(10)).map(({ id }) => id);
      expect(files).toEqual(expect.arrayContaining(records.map(({ id }) => id)));
      await before.close();

      const after = await openParts(directory);
      await expect.poll(async () => (await after.artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 3]);
      expect((await after.results.page({ by: 'all' }, 10)).map(({ id }) => id)).toEqual([ID + 3]);
      const ofOthers = async () => (await workspaces()).filter((name) => !name.startsWith(`${process.pid}-`));
      await expect.poll(ofOthers).toEqual([]);
      await after.close();
      expect(await workspaces()).toEqual([]);
      expect(after.problems).toEqual([]);
    },
  );

  it('completes the removals when the database is back, but not in a process without a database', async () => {
    const before = await openParts(directory);
    for (const id of IDS) await keepPicture(before.captureStore, id);
    await before.close();
    await removeAndDie('records removed');

    const without = await openParts(directory, { database: false });
    expect(await without.artifacts.list(10)).toHaveLength(4);
    await without.close();

    const after = await openParts(directory);
    await expect.poll(() => after.artifacts.list(10)).toHaveLength(1);
    await after.close();
  });

  it('serves no file of a partly removed capture after a restart, even while the database is locked', async () => {
    const before = await openParts(directory);
    for (const id of [ID - 1, ...IDS]) await keepPicture(before.captureStore, id);
    await before.close();
    await removeAndDie('records removed');

    const other = new DatabaseSync(databaseFile(directory));
    other.exec('BEGIN IMMEDIATE');
    const dataDir = join(directory, 'data');
    const { artifacts, close } = await createStorage({ dataDir, dbPath: databaseFile(directory) });
    const listed = async (limit: number, below?: number) => (await artifacts.list(limit, below)).map(({ id }) => id);
    expect(await listed(10)).toEqual([ID + 3, ID - 1]);
    // The removed captures shorten no page.
    expect([await listed(2), await listed(1, ID + 3)]).toEqual([[ID + 3, ID - 1], [ID - 1]]);
    for (const id of IDS) {
      expect((await stat(captureDirectory(dataDir, id))).isDirectory()).toBe(true);
      const image = await artifacts.open(id, 'image');
      const found = [await artifacts.has(id), await artifacts.info(id), await artifacts.record(id), image].map(Boolean);
      expect(found).toEqual(REMOVED.includes(id) ? [false, false, false, false] : [true, true, true, true]);
      await image?.close();
    }
    other.close();
    await expect.poll(() => existsSync(captureDirectory(dataDir, ID))).toBe(false);
    await close();
  });
});
