import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { around, databaseFile, HTML, IMAGE, keepPicture, openParts, type Parts, type PartsOptions } from './parts.ts';
import { captureOf } from './result-of.ts';

const ID = 300_000_000_000_000;

describe('removing captures', () => {
  let directory: string;
  let opened: Parts[];

  const open = async (options?: PartsOptions): Promise<Parts> => {
    const parts = await openParts(directory, options);
    opened.push(parts);
    return parts;
  };

  beforeEach(async () => {
    directory = await makeDirectory();
    opened = [];
  });

  afterEach(async () => {
    for (const one of opened) await one.close();
  });

  /** Another process that holds the database's lock: meanwhile records wait in the outbox. */
  async function whileLocked(work: () => Promise<void>): Promise<void> {
    const other = new DatabaseSync(databaseFile(directory));
    other.exec('BEGIN IMMEDIATE');
    try {
      await work();
    } finally {
      other.exec('ROLLBACK');
      other.close();
    }
  }

  it('removes the files and the records of the given captures, and nothing of other captures', async () => {
    const { captureStore, artifacts, results } = await open();
    for (const at of [0, 1, 2]) await keepPicture(captureStore, ID + at);
    await captureStore.keep(captureOf(ID + 3, { failed: true }), null);
    const { bytes_freed: bytes } = await captureStore.remove([ID]);
    expect(bytes).toBe(await artifacts.sizeOf(ID + 1));
    expect(bytes).toBeGreaterThan(IMAGE.length + HTML.length);
    const both = bytes + (await artifacts.sizeOf(ID + 3));
    expect(await captureStore.remove([ID, ID + 1, ID + 3, ID + 9])).toEqual({
      screenshots: 1,
      records: 2,
      bytes_freed: both,
      held: [],
    });
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 2]);
    expect((await results.page({ by: 'all' }, 10)).map(({ id }) => id)).toEqual([ID + 2]);
    expect(await Promise.all([ID, ID + 1, ID + 2, ID + 3].map((id) => captureStore.has(id)))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('leaves no file, and no directory of a minute that has no captures any more', async () => {
    const { captureStore, data } = await open();
    await keepPicture(captureStore, ID);
    await keepPicture(captureStore, ID + 1);
    const minute = dirname(captureDirectory(data.path, ID));
    await captureStore.remove([ID]);
    expect(await readdir(minute)).toEqual([String(ID + 1)]);
    await captureStore.remove([ID + 1]);
    expect(await readdir(join(data.path, 'captures'))).toEqual([]);
    const { staging, outbox } = await data.workspace();
    expect([await readdir(staging), await readdir(outbox)]).toEqual([[], []]);
    await keepPicture(captureStore, ID + 2);
    expect(await captureStore.has(ID + 2)).toBe(true);
  });

  it('lets readers read an open artifact to the end', async () => {
    const { captureStore, artifacts } = await open();
    await keepPicture(captureStore, ID);
    const [image, html] = await Promise.all([artifacts.open(ID, 'image'), artifacts.open(ID, 'html')]);
    await captureStore.remove([ID]);
    expect(await artifacts.open(ID, 'image')).toBeUndefined();
    expect(image && (await buffer(image.stream())).equals(IMAGE)).toBe(true);
    expect(html && (await buffer(html.stream())).toString()).toBe(HTML);
  });

  it('works without a database when none is configured', async () => {
    const { captureStore, artifacts } = await open({ database: false });
    await keepPicture(captureStore, ID);
    expect(await captureStore.has(ID)).toBe(true);
    expect(await captureStore.remove([ID])).toMatchObject({ screenshots: 1, records: 0 });
    expect(await captureStore.has(ID)).toBe(false);
    expect(await artifacts.list(1)).toEqual([]);
  });

  it('refuses a removal while the database is away, and removes nothing', async () => {
    const { captureStore, artifacts, results, data } = await open();
    await keepPicture(captureStore, ID);
    await whileLocked(async () => {
      await expect(captureStore.remove([ID])).rejects.toMatchObject({ code: 'database_unavailable' });
    });
    expect(await artifacts.info(ID)).toBeDefined();
    expect(await results.get(ID)).toBeDefined();
    expect(await readdir((await data.workspace()).outbox)).toEqual([]);
    expect(await captureStore.remove([ID])).toMatchObject({ screenshots: 1, records: 1 });
  });

  it('removes records that wait for the database, in any process', async () => {
    const [one, other] = [await open(), await open()];
    await whileLocked(async () => {
      await Promise.all([
        keepPicture(one.captureStore, ID),
        keepPicture(other.captureStore, ID + 1),
        one.captureStore.keep(captureOf(ID + 2, { failed: true }), null),
      ]);
      await expect(one.captureStore.remove([ID + 1])).rejects.toMatchObject({ code: 'database_unavailable' });
      expect(await one.outbox.waiting([ID, ID + 1, ID + 2, ID + 3])).toEqual(new Set([ID, ID + 1, ID + 2]));
    });
    for (const id of [ID, ID + 1, ID + 2]) expect(await one.captureStore.has(id)).toBe(true);
    await one.captureStore.remove([ID, ID + 1, ID + 2]);
    for (const { captureStore } of [one, other]) await expect.poll(() => captureStore.pending).toBe(0);
    // A record that is being written is removed by the process that wrote it.
    await expect.poll(() => one.results.page({ by: 'all' }, 10)).toEqual([]);
    const { outbox } = await other.data.workspace();
    await expect.poll(() => readdir(outbox)).toEqual([]);
    expect(await one.artifacts.list(10)).toEqual([]);
  });

  it('removes a record that was on its way to the database', async () => {
    const arrived = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const late = await open({
      change: ({ results }) => ({
        results: around(results, {
          insert: async (result) => {
            arrived.resolve();
            await go.promise;
            await results.insert(result);
          },
        }),
      }),
    });
    const other = await open();
    const keeping = keepPicture(late.captureStore, ID);
    await arrived.promise;
    await other.captureStore.remove([ID]);
    go.resolve();
    await keeping;
    await expect.poll(() => other.captureStore.has(ID)).toBe(false);
    expect(late.problems).toEqual([]);
  });

  it('completes a removal after the database went away in the middle', async () => {
    let asked = 0;
    const { captureStore, artifacts, results } = await open({
      change: ({ results }) => ({
        results: around(results, {
          delete: async (ids) => {
            asked += 1;
            // The second call concerns records that may have reached the database in the meantime.
            if (asked === 2) throw new CapstanError('database_unavailable');
            return results.delete(ids);
          },
        }),
      }),
    });
    await keepPicture(captureStore, ID);
    await expect(captureStore.remove([ID, ID + 1])).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await results.get(ID)).toBeUndefined();
    await expect.poll(() => artifacts.info(ID)).toBeUndefined();
    expect(await captureStore.has(ID)).toBe(false);
  });

  it('makes room on a full disk', async () => {
    const { captureStore } = await open({
      change: ({ outbox }) => ({
        outbox: { ...outbox, intend: () => Promise.reject(new CapstanError('storage_full')) },
      }),
    });
    await keepPicture(captureStore, ID);
    expect(await captureStore.remove([ID])).toMatchObject({ screenshots: 1, records: 1 });
    expect(await captureStore.has(ID)).toBe(false);
  });

  describe('the byte count', () => {
    const bytesOnDisk = async (parts: Parts): Promise<number> => {
      const sizes = (await readdir(join(parts.data.path, 'captures'), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    };

    it('counts existing captures, captures that are stored and removed, and captures of other processes exactly', async () => {
      const before = await open();
      for (let at = 0; at < 10; at += 1) await keepPicture(before.captureStore, ID + at * 400_000_000);
      const { captureStore, artifacts, ...parts } = await open();
      expect(artifacts.bytes).toBeNull();
      const counted = await artifacts.measure();
      expect(counted).toBe(await bytesOnDisk({ captureStore, artifacts, ...parts }));
      expect(counted).toBeGreaterThan(10 * IMAGE.length);

      await keepPicture(captureStore, ID + 1, { title: 'another' });
      await captureStore.remove([ID, ID + 400_000_000]);
      expect(artifacts.bytes).toBe(await bytesOnDisk({ captureStore, artifacts, ...parts }));
      expect(artifacts.bytes).not.toBe(counted);

      await keepPicture(before.captureStore, ID + 2);
      await before.captureStore.remove([ID + 800_000_000, ID + 3 * 400_000_000]);
      await rm(captureDirectory(parts.data.path, ID + 4 * 400_000_000), { recursive: true });
      expect(await artifacts.measure()).toBe(await bytesOnDisk({ captureStore, artifacts, ...parts }));
    });

    it('counts exactly when another process stored a capture within the same tick of the clock', async () => {
      const [parts, other] = [await open(), await open()];
      await keepPicture(parts.captureStore, ID);
      const minute = dirname(captureDirectory(parts.data.path, ID));
      const tick = Math.floor(Date.now() / 1000);
      await utimes(minute, tick, tick);
      await parts.artifacts.measure();
      await keepPicture(other.captureStore, ID + 1);
      await utimes(minute, tick, tick);
      expect(await parts.artifacts.measure()).toBe(await bytesOnDisk(parts));
    });

    it('counts exactly while captures are stored and removed', async () => {
      const parts = await open();
      const { captureStore, artifacts } = parts;
      for (let at = 0; at < 30; at += 1) await keepPicture(captureStore, ID + at);
      const measuring = artifacts.measure();
      await Promise.all([keepPicture(captureStore, ID + 50), captureStore.remove([ID, ID + 7, ID + 29])]);
      await measuring;
      await artifacts.measure();
      expect(artifacts.bytes).toBe(await bytesOnDisk(parts));
    });
  });
});
