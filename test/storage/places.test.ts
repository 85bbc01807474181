import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CapstanError } from '../../src/capture/errors.ts';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { createStorage, type Storage, type StorageOptions } from '../../src/storage/storage.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { keepPicture } from './parts.ts';

const ID = 300_000_000_000_000;

describe('the places where captures are stored', () => {
  let directory: string;
  const opened: Storage[] = [];

  beforeEach(async () => {
    directory = await makeDirectory();
  });

  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  const dataDir = () => join(directory, 'data');
  const dbPath = () => join(directory, 'database', 'results.db');

  async function start(options: Partial<StorageOptions> = {}): Promise<Storage> {
    const storage = await createStorage({ dataDir: dataDir(), dbPath: dbPath(), ...options });
    opened.push(storage);
    return storage;
  }

  async function stop(): Promise<void> {
    for (const storage of opened.splice(0)) await storage.close();
  }

  it('ends the start with one line when the database file that was used before is missing', async () => {
    await keepPicture((await start()).captureStore, ID);
    await stop();
    await rename(join(directory, 'database'), join(directory, 'unmounted'));
    await expect(start()).rejects.toThrow(`the database ${dbPath()} is missing: mount it, restore a backup, or run`);
    expect(await readdir(directory)).not.toContain('database');
    await rename(join(directory, 'unmounted'), join(directory, 'database'));
    expect(await (await start()).results.get(ID)).toMatchObject({ id: ID });
  });

  it('ends the start with one line when the database has captures but the data directory is empty', async () => {
    const storage = await start();
    await keepPicture(storage.captureStore, ID);
    const id = await storage.artifacts.id();
    await stop();
    await rename(dataDir(), join(directory, 'unmounted'));
    await mkdir(dataDir());
    await expect(start()).rejects.toThrow(
      `the data directory ${dataDir()} is empty, but the database has captures of store ${id}: mount it, or mark it as that store: mkdir -p ${dataDir()} && echo '{"id":"${id}"}' > ${dataDir()}/store.json`,
    );
    await writeFile(join(dataDir(), 'store.json'), JSON.stringify({ id }));
    await keepPicture((await start()).captureStore, ID + 1);
  });

  it('warns when it creates a new store, as when data directory and database were on a file system that is not mounted', async () => {
    const onWarning = vi.fn<(text: string) => void>();
    await keepPicture((await start({ onWarning })).captureStore, ID);
    const line = `${dataDir()} held no store, and a new one was created: if captures were stored there before, stop the service and mount their file system`;
    expect(onWarning.mock.calls).toEqual([[line]]);
    await stop();
    await start({ onWarning });
    await stop();
    expect(onWarning).toHaveBeenCalledTimes(1);
    for (const name of ['data', 'database']) {
      await rename(join(directory, name), join(directory, `unmounted-${name}`));
    }
    await start({ onWarning });
    expect(onWarning.mock.calls).toEqual([[line], [line]]);
  });

  it('refuses to start without a store, and creates nothing, when one is required', async () => {
    const both = `the data directory ${dataDir()} holds no store, and the database ${dbPath()} is missing: mount it, or start once without --require-store`;
    await expect(start({ requireStore: true })).rejects.toThrow(both);
    expect(await readdir(directory)).toEqual([]);
    await start();
    await stop();
    await start({ requireStore: true });
    await stop();
    const other = join(directory, 'other.db');
    await expect(start({ requireStore: true, dbPath: other })).rejects.toThrow(
      `the database ${other} is missing: mount it, or start once without --require-store`,
    );
    await rename(dataDir(), join(directory, 'unmounted'));
    await expect(start({ requireStore: true, dbPath: null })).rejects.toThrow(`${dataDir()} holds no store`);
  });

  it('warns when the database has no records although captures are stored', async () => {
    await keepPicture((await start()).captureStore, ID);
    await stop();
    const onWarning = vi.fn<(text: string) => void>();
    await start({ dbPath: join(directory, 'empty.db'), onWarning });
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('run `capstan db rebuild`')]]);
  });

  it('starts, with the same warning, when the description of a stored capture is damaged', async () => {
    await keepPicture((await start()).captureStore, ID);
    await stop();
    await writeFile(join(captureDirectory(dataDir(), ID), 'record.json'), '{');
    const onWarning = vi.fn<(text: string) => void>();
    await start({ dbPath: join(directory, 'empty.db'), onWarning });
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('run `capstan db rebuild`')]]);
  });

  it('does not warn when the records of the stored captures still wait for the database', async () => {
    const other = await openSqlite({ path: dbPath() });
    await other.close();
    const locked = new DatabaseSync(dbPath());
    locked.exec('BEGIN IMMEDIATE');
    const { captureStore } = await start();
    await keepPicture(captureStore, ID);
    expect(captureStore.pending).toBe(1);
    await stop();
    locked.close();
    const onWarning = vi.fn<(text: string) => void>();
    const { results } = await start({ onWarning });
    await expect.poll(() => results.get(ID)).toBeDefined();
    expect(onWarning).not.toHaveBeenCalled();
  });

  it('warns when another data directory has captures in the same database', async () => {
    await keepPicture((await start()).captureStore, ID);
    await (await start({ dataDir: join(directory, 'other'), dbPath: null })).artifacts.id();
    const onWarning = vi.fn<(text: string) => void>();
    await start({ dataDir: join(directory, 'other'), onWarning });
    expect(onWarning.mock.calls).toEqual([
      [expect.stringContaining('the database has captures of another data directory')],
    ]);
  });

  it('reports once that nothing can be stored, with the cause, and once that storing works again', async () => {
    const onStoreFailure = vi.fn<(failure: CapstanError | undefined) => void>();
    const { captureStore } = await start({ onStoreFailure });
    await rm(join(dataDir(), 'captures'), { recursive: true, force: true });
    await writeFile(join(dataDir(), 'captures'), 'in the way');
    for (let at = 0; at < 3; at += 1) {
      await expect(keepPicture(captureStore, ID + at)).rejects.toMatchObject({ code: 'storage_unavailable' });
    }
    expect(captureStore.refusal).toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringMatching(/^The data directory cannot be written \((ENOTDIR|EEXIST)\)\.$/),
      cause: expect.objectContaining({ code: expect.stringMatching(/^E/) }),
    });
    expect(onStoreFailure).toHaveBeenCalledTimes(1);
    await rm(join(dataDir(), 'captures'));
    await expect.poll(() => captureStore.refusal).toBeUndefined();
    expect(onStoreFailure.mock.calls.map(([failure]) => failure?.code)).toEqual(['storage_unavailable', undefined]);
    await keepPicture(captureStore, ID);
  });

  it('refuses captures when the database is permanently unusable and the outbox is full', async () => {
    await mkdir(dbPath(), { recursive: true });
    const { captureStore } = await start({ maxOutbox: 2 });
    await keepPicture(captureStore, ID);
    expect(captureStore.refusal).toBeUndefined();
    await keepPicture(captureStore, ID + 1);
    expect(captureStore.refusal).toMatchObject({ code: 'database_unavailable' });
    await expect(keepPicture(captureStore, ID + 2)).rejects.toMatchObject({ code: 'database_unavailable' });
  });
});
