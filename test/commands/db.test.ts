import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { keepPicture } from '../storage/parts.ts';
import { capstan, ground } from './capstan-process.ts';

const ID = 300_000_000_000_000;
const COUNT = 30;
const PLACES = ['--db-path', 'results.db', '--data-dir', 'data'];

/** Creates a data directory and a database with captures. Returns them with the stored records. */
async function stored(path: string) {
  const open = () => createStorage({ dataDir: join(path, 'data'), dbPath: join(path, 'results.db') });
  const storage = await open();
  for (let at = 0; at < COUNT; at += 1) {
    const ofKey = at % 3 === 0 ? { api_key_name: 'shop' } : {};
    await keepPicture(storage.captureStore, ID + at, { title: 'x'.repeat(2000), ...ofKey });
  }
  const records = await recordsOf(storage);
  return { open, storage, records };
}

async function recordsOf({ results }: Storage) {
  const records = await Promise.all(Array.from({ length: COUNT }, (_, at) => results.get(ID + at)));
  return records;
}

describe('capstan db', () => {
  it('rebuilds every record with its evidence after the database was destroyed', async () => {
    await using place = await ground();
    const { open, storage, records } = await stored(place.path);
    await storage.close();
    await writeFile(join(place.path, 'results.db'), (await readFile(join(place.path, 'results.db'))).fill(0x5a, 9000));
    const { code, stdout } = await capstan(['db', 'rebuild', ...PLACES], place.options);
    expect(stdout).toMatch(
      new RegExp(`^${COUNT} records written; the previous database is now .*results\\.db\\.replaced-\\d+\n$`),
    );
    expect(code).toBe(0);
    const again = await open();
    expect(await recordsOf(again)).toEqual(records);
    expect(records[0]?.evidence).not.toBeNull();
    const ofShop = await again.results.page({ by: 'all', ofKey: 'shop' }, COUNT);
    expect(ofShop.map(({ id }) => id - ID)).toEqual([27, 24, 21, 18, 15, 12, 9, 6, 3, 0]);
    await again.close();
  });

  it('rebuilds a missing database, and writes nothing when run again', async () => {
    await using place = await ground();
    const { open, storage, records } = await stored(place.path);
    await storage.close();
    for (const name of await readdir(place.path)) if (name.startsWith('results.db')) await rm(join(place.path, name));
    expect((await capstan(['db', 'rebuild', ...PLACES], place.options)).stdout).toBe(`${COUNT} records written\n`);
    expect((await capstan(['db', 'rebuild', ...PLACES], place.options)).stdout).toBe('0 records written\n');
    const again = await open();
    expect(await recordsOf(again)).toEqual(records);
    await again.close();
  });

  it('backs up and restores a database in use', async () => {
    await using place = await ground();
    const { storage, records } = await stored(place.path);
    expect(await capstan(['db', 'backup', 'copy.db', ...PLACES], place.options)).toMatchObject({ code: 0 });
    await storage.results.delete([ID, ID + 1]);
    expect((await capstan(['db', 'backup', 'copy.db', ...PLACES], place.options)).stderr).toMatch(/copy\.db exists/);
    expect(await capstan(['db', 'restore', 'copy.db', ...PLACES], place.options)).toMatchObject({ code: 0 });
    expect(await recordsOf(storage)).toEqual(records);
    await keepPicture(storage.captureStore, ID + COUNT);
    await storage.close();
    expect(await capstan(['db', 'check', ...PLACES], place.options)).toMatchObject({
      code: 0,
      stdout: 'no problems found\n',
    });
  });

  it('does not restore from a damaged copy', async () => {
    await using place = await ground();
    const { storage, records } = await stored(place.path);
    await capstan(['db', 'backup', 'copy.db', ...PLACES], place.options);
    const copy = join(place.path, 'copy.db');
    await writeFile(copy, (await readFile(copy)).fill(0x5a, 9000));
    const { code, stderr } = await capstan(['db', 'restore', 'copy.db', ...PLACES], place.options);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is damaged, nothing was changed'),
    });
    expect(await recordsOf(storage)).toEqual(records);
    await storage.close();
  });

  it('lists records without files and files without records', async () => {
    await using place = await ground();
    const { storage } = await stored(place.path);
    await storage.artifacts.remove([ID + 3]);
    await storage.results.delete([ID + 4]);
    const { code, stdout } = await capstan(['db', 'check', ...PLACES], place.options);
    expect(stdout).toBe(
      `record ${ID + 3}: its artifacts are missing\ncapture ${ID + 4}: its record is missing\n2 problems\n`,
    );
    expect(code).toBe(1);
    await storage.close();
  });
});
