import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepPicture, openParts, temporaryDirectory } from './parts.ts';

const ID = 300_000_000_000_000;
const IDS = [0, 1, 2, 3].map((at) => ID + at);
const REMOVED = IDS.slice(0, 3);

describe('a process killed while it removes captures', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

  beforeEach(async () => {
    directory = await temporaryDirectory();
  });

  afterEach(() => directory.remove());

  async function removeAndDie(step: string): Promise<void> {
    const script = join(import.meta.dirname, 'killed-remover.ts');
    const child = spawn(process.execPath, ['--no-warnings', script, directory.path, step, REMOVED.join(',')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
  }

  const workspaces = () => readdir(join(directory.path, 'data', 'workspaces'));

  it.each(['intended', 'records removed', 'some files removed', 'files removed'])(
    'leaves no record without its files when killed at the step "%s"; the next process completes the removal',
    async (step) => {
      const before = await openParts(directory.path);
      for (const id of IDS) await keepPicture(before.captureStore, id);
      await removeAndDie(step);

      // The ids as the surviving processes see them.
      const records = await before.results.page({ by: 'all' }, 10);
      expect(records).toHaveLength(step === 'intended' ? 4 : 1);
      const files = (await before.artifacts.list(10)).map(({ id }) => id);
      expect(files).toEqual(expect.arrayContaining(records.map(({ id }) => id)));
      await before.close();

      const after = await openParts(directory.path);
      await vi.waitFor(
        async () => expect((await after.artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 3]),
        20_000,
      );
      expect((await after.results.page({ by: 'all' }, 10)).map(({ id }) => id)).toEqual([ID + 3]);
      const ofOthers = async () => (await workspaces()).filter((name) => !name.startsWith(`${process.pid}-`));
      await vi.waitFor(async () => expect(await ofOthers()).toEqual([]), 20_000);
      await after.close();
      expect(await workspaces()).toEqual([]);
      expect(after.problems).toEqual([]);
    },
  );

  it('completes the removals when the database is back, but not in a process without a database', async () => {
    const before = await openParts(directory.path);
    for (const id of IDS) await keepPicture(before.captureStore, id);
    await before.close();
    await removeAndDie('records removed');

    const without = await openParts(directory.path, { database: false });
    expect(await without.artifacts.list(10)).toHaveLength(4);
    await without.close();

    const after = await openParts(directory.path);
    await vi.waitFor(async () => expect(await after.artifacts.list(10)).toHaveLength(1), 20_000);
    await after.close();
  });
});
