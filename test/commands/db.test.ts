import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { captureDirectory, RECORD_FILE } from '../../src/storage/files/layout.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { HTML, keepPicture } from '../storage/parts.ts';
import { captureOf } from '../storage/result-of.ts';
import { capstan, ground, serve } from './capstan-process.ts';

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
    const place = await ground();
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

  it('creates every file of a service and a backup with mode 0600 whatever the umask, except the log file', async () => {
    const place = await ground();
    const storage = await createStorage({
      dataDir: join(place.path, 'data'),
      dbPath: join(place.path, 'results.db'),
    });
    const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    await storage.captureStore.keep(captureOf(ID), { image, html: HTML });
    await storage.close();
    const options = { ...place.options, through: ['sh', '-c', 'umask 0; exec "$@"', 'sh'] };
    const service = await serve(
      [...PLACES, '--retain-days', '36500', '--log-file', 'capstan.log', '--browser-path', '/nonexistent/chromium'],
      options,
    );
    expect((await fetch(`${service.url}/screenshot/${ID}?width=32`)).status).toBe(200);
    expect(await capstan(['db', 'backup', 'copy.db', ...PLACES], options)).toMatchObject({ code: 0 });
    const names = await readdir(place.path, { recursive: true });
    const modes = await Promise.all(
      names.map(async (name) => [name, ((await stat(join(place.path, name))).mode & 0o777).toString(8)] as const),
    );
    service.child.kill('SIGTERM');
    await service.ended;
    expect(names.map((name) => basename(name))).toEqual(
      expect.arrayContaining(['copy.db', 'results.db-wal', 'results.db-events.lock']),
    );
    expect(names).toContainEqual(expect.stringMatching(`^data/thumbnails/${ID}/.+`));
    expect(modes.filter(([, mode]) => !mode.endsWith('00'))).toEqual([['capstan.log', '640']]);
  });

  it('finds captures whose record beside their files is damaged', async () => {
    const place = await ground();
    const { storage } = await stored(place.path);
    await storage.close();
    await writeFile(join(captureDirectory(join(place.path, 'data'), ID + 1), RECORD_FILE), '{');
    expect(await capstan(['db', 'check', ...PLACES], place.options)).toMatchObject({
      code: 1,
      stdout: `capture ${ID + 1}: its record beside its files cannot be read\n1 problems\n`,
    });
  });

  it('does not restore from a damaged copy', async () => {
    const place = await ground();
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

  it('lists records without files, files without records, and empty copies of failed captures', async () => {
    const place = await ground();
    const { storage } = await stored(place.path);
    await storage.artifacts.remove([ID + 3]);
    const failed = [ID + COUNT, ID + COUNT + 1, ID + COUNT + 2];
    for (const id of failed) await storage.captureStore.keep(captureOf(id, { failed: true }), null);
    await storage.results.delete([ID + 4, ...failed]);
    await writeFile(join(captureDirectory(join(place.path, 'data'), ID + COUNT + 1), 'record.json'), '');
    const { code, stdout } = await capstan(['db', 'check', ...PLACES], place.options);
    expect(stdout).toBe(
      [
        `record ${ID + 3}: its artifacts are missing`,
        `capture ${ID + 4}: its record is missing`,
        `failed capture ${ID + COUNT}: its record is missing`,
        `capture ${ID + COUNT + 1}: its record cannot be read: incomplete or missing`,
        `failed capture ${ID + COUNT + 2}: its record is missing`,
        '5 problems\n',
      ].join('\n'),
    );
    expect(code).toBe(1);
    await storage.close();
  });
});
