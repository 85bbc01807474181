import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { HTML, IMAGE, keepPicture } from './parts.ts';
import { captureOf } from './result-of.ts';

const ID = 300_000_000_000_000;

describe('files of the service', () => {
  let directory: string;
  let storage: Storage | undefined;

  beforeEach(async () => {
    directory = await makeDirectory();
  });

  afterEach(async () => {
    await storage?.close();
    storage = undefined;
  });

  const dataDir = () => join(directory, 'new', 'data');
  const dbPath = () => join(directory, 'new', 'database', 'results.db');

  /** Returns the permissions of other users on anything in a directory, including itself. */
  async function openToOthers(path: string): Promise<readonly string[]> {
    const names = await readdir(path, { recursive: true });
    const open = [];
    for (const one of [path, ...names.map((name) => join(path, name))]) {
      if (((await stat(one)).mode & 0o077) !== 0) open.push(one);
    }
    return open;
  }

  it('creates files that only its own user can read, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      storage = await createStorage({ dataDir: dataDir(), dbPath: dbPath() });
      await keepPicture(storage.captureStore, ID);
      await storage.events.start(() => {});
      // A record that waits for its database is in the outbox.
      await mkdir(join(directory, 'taken'));
      const away = await createStorage({ dataDir: dataDir(), dbPath: join(directory, 'taken') });
      await away.captureStore.keep(captureOf(ID + 1), { image: IMAGE, html: HTML });
      const names = (await readdir(join(directory, 'new'), { recursive: true })).map((name) => name.split('/').at(-1));
      expect(names).toEqual(
        expect.arrayContaining([
          'results.db',
          'results.db-wal',
          'results.db-shm',
          'record.json',
          `${ID + 1}.waiting`,
          'lock',
        ]),
      );
      expect(await openToOthers(join(directory, 'new'))).toEqual([]);
      await away.close();
    } finally {
      process.umask(umask);
    }
  });

  it('revokes, at the start, the permissions of other users on files that an operator has copied', async () => {
    storage = await createStorage({ dataDir: dataDir(), dbPath: dbPath() });
    await keepPicture(storage.captureStore, ID);
    for (const suffix of ['', '-wal', '-shm']) await chmod(dbPath() + suffix, 0o644);
    for (const name of ['', 'captures', 'workspaces']) await chmod(join(dataDir(), name), 0o755);
    await chmod(join(dataDir(), 'store.json'), 0o644);
    const second = await createStorage({ dataDir: dataDir(), dbPath: dbPath() });
    expect(await openToOthers(join(directory, 'new'))).toEqual([]);
    await second.close();
  });

  it('keeps the permissions of a directory that existed before the database', async () => {
    const shared = join(directory, 'shared');
    await mkdir(shared);
    await chmod(shared, 0o755);
    await writeFile(join(shared, 'theirs'), '');
    storage = await createStorage({ dataDir: dataDir(), dbPath: join(shared, 'results.db') });
    expect((await stat(shared)).mode & 0o777).toBe(0o755);
    expect((await stat(join(shared, 'results.db'))).mode & 0o777).toBe(0o600);
  });
});
