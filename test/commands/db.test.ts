import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { keepPicture } from '../storage/parts.ts';
import { captureOf } from '../storage/result-of.ts';
import { capstan, ground } from './capstan-process.ts';

const ID = 300_000_000_000_000;
const COUNT = 30;
const PLACES = ['--db-path', 'results.db', '--data-dir', 'data'];

/** Creates a data directory and a database with captures. Returns them with the stored records. */
async function stored(path: string) {
  const open = () => createStorage({ dataDir: join(path, 'data'), dbPath: join(path, 'results.db') });
  const storage = await open();
  for (let at = 0; at < COUNT; at += 1) await keepPicture(storage.captureStore, ID + at, { title: 'x'.repeat(2000) });
  const records = await recordsOf(storage);
  return { open, storage, records };
}

async function recordsOf({ results }: Storage) {
  const records = await Promise.all(Array.from({ length: COUNT }, (_, at) => results.get(ID + at)));
  return records;
}

describe('capstan db', () => {
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
    await storage.captureStore.keep(captureOf(ID + COUNT, { failed: true }), null);
    await storage.results.delete([ID + 4, ID + COUNT]);
    const { code, stdout } = await capstan(['db', 'check', ...PLACES], place.options);
    expect(stdout).toBe(
      [
        `record ${ID + 3}: its artifacts are missing`,
        `capture ${ID + 4}: its record is missing`,
        `failed capture ${ID + COUNT}: its record is missing`,
        '3 problems\n',
      ].join('\n'),
    );
    expect(code).toBe(1);
    await storage.close();
  });
});
