import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../src/capture/result/result.ts';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import type { ResultFilter } from '../../src/storage/ports/result-store.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { keepPicture } from '../storage/parts.ts';
import { captureOf, EVIDENCE } from '../storage/result-of.ts';
import { capstan, ground } from './capstan-process.ts';

const ID = 300_000_000_000_000;
/** Ids of one minute apart, so that several directories are read. */
const MINUTE = 4096 * 60_000;
const idOf = (at: number) => ID + (at % 3) * MINUTE + at;
const PLACES = ['--db-path', 'results.db', '--data-dir', 'data'];

const STORED: readonly Partial<Result>[] = [
  {
    title: 'The first page',
    options: { fullPage: true },
    options_withheld: ['headers'],
    perception_hash: '0123456789abcdef',
    api_key_name: 'shop',
  },
  { host: 'www.example.com', url: 'https://www.example.com/a?b=c', final_url: 'https://example.com/', format: 'webp' },
  { host: 'xn--bcher-kva.example', url: 'https://xn--bcher-kva.example/', perception_hash: '0123456789abcdee' },
  { response_code: 404, partial: true, partial_phase: 'load', options_digest: 'd1', timings: { load: 12 } },
];
const FAILED: readonly Partial<Result>[] = [
  { failed_code: 'target_unreachable', failed_reason: 'no answer', response_code: 0, title: '' },
  { failed_code: 'capture_timeout', failed_reason: 'it took too long', host: 'www.example.com', api_key_name: 'shop' },
  {
    failed_code: 'not_a_page',
    failed_reason: 'a download',
    download: { type: 'application/zip', bytes: 5, name: 'a' },
  },
];
const FILTERS: readonly ResultFilter[] = [
  { by: 'all' },
  { by: 'host', host: 'example.com' },
  { by: 'host', host: 'bücher.example' },
  { by: 'url', url: 'https://www.example.com/a?b=c' },
  { by: 'url', url: 'https://example.com/' },
  { by: 'all', where: { outcome: 'stored' } },
  { by: 'all', where: { outcome: 'failed' } },
  { by: 'all', where: { outcome: 'timed_out' } },
  { by: 'all', where: { status: '4xx' } },
  { by: 'all', where: { text: 'first' } },
  { by: 'all', where: { option: [{ name: 'fullPage' }, { name: 'headers' }] } },
  { by: 'host', host: 'www.', where: { outcome: 'timed_out' } },
  { by: 'all', ofKey: 'shop' },
];

function open(path: string): Promise<Storage> {
  return createStorage({ dataDir: join(path, 'data'), dbPath: join(path, 'results.db') });
}

/** Stores captures and failed captures. Returns their ids. */
async function fill({ captureStore }: Storage): Promise<readonly number[]> {
  for (const [at, wanted] of STORED.entries()) await keepPicture(captureStore, idOf(at), wanted);
  for (const [at, wanted] of FAILED.entries()) {
    const evidence = at === 0 ? EVIDENCE : null;
    const record = { ...captureOf(idOf(STORED.length + at), { failed: true, ...wanted }), evidence };
    await captureStore.keep(record, null);
  }
  return Array.from({ length: STORED.length + FAILED.length }, (_, at) => idOf(at));
}

/** Everything that a database answers about these captures. */
async function answersOf({ results }: Storage, ids: readonly number[]) {
  const records = await Promise.all(ids.map((id) => results.get(id)));
  const pages = await Promise.all(FILTERS.map((filter) => results.page(filter, 100)));
  const likeness = { hash: '0123456789abcdef', distance: 3, except: ID - 1 };
  return { records, pages, similar: await results.similar(likeness, 10), oldest: await results.oldest(100, ID * 2) };
}

async function destroy(path: string): Promise<void> {
  for (const name of await readdir(path)) if (name.startsWith('results.db')) await rm(join(path, name));
}

const rebuild = (place: { readonly options: object }) => capstan(['db', 'rebuild', ...PLACES], place.options);

describe('capstan db rebuild', () => {
  it('brings back every record, of stored and failed captures, and every list, after the database was removed', async () => {
    const place = await ground();
    const storage = await open(place.path);
    const ids = await fill(storage);
    const before = await answersOf(storage, ids);
    await storage.close();
    expect(before.records.filter((record) => record === undefined)).toEqual([]);
    expect(before.pages.map((page) => page.length)).toEqual([7, 6, 1, 1, 5, 4, 2, 1, 1, 1, 1, 1, 2]);
    expect(before.similar).toHaveLength(2);

    await destroy(place.path);
    expect(await rebuild(place)).toMatchObject({ code: 0, stdout: `${ids.length} records written\n` });
    expect(await rebuild(place)).toMatchObject({ code: 0, stdout: '0 records written\n' });
    const after = await open(place.path);
    expect(await answersOf(after, ids)).toEqual(before);
    await after.close();
    expect(await capstan(['db', 'check', ...PLACES], place.options)).toMatchObject({ code: 0 });
  });

  it('fails for a directory that holds no captures of a service', async () => {
    const place = await ground();
    expect(await capstan(['db', 'rebuild', '--db-path', 'results.db', '--data-dir', '.'], place.options)).toMatchObject(
      {
        code: 1,
        stderr: expect.stringMatching(
          /^capstan: \S+ holds no store: --data-dir names the directory of the captures\n$/,
        ),
      },
    );
    expect(await readdir(place.path)).not.toContain('results.db');
  });

  it.each([
    ['a damaged', (contents: Buffer) => contents.fill(0x5a, 9000)],
    ['an empty', () => ''],
  ])('sets %s database aside, and brings back every record', async (_, damaged) => {
    const place = await ground();
    const storage = await open(place.path);
    const ids = await fill(storage);
    const before = await answersOf(storage, ids);
    await storage.close();
    const file = join(place.path, 'results.db');
    await writeFile(file, damaged(await readFile(file)));
    const { stdout } = await rebuild(place);
    expect(stdout).toMatch(
      new RegExp(`^${ids.length} records written; the previous database is now .*results\\.db\\.replaced-\\d+\n$`),
    );
    const after = await open(place.path);
    expect(await answersOf(after, ids)).toEqual(before);
    await after.close();
  });

  it('does not bring back captures that were removed, stored or failed', async () => {
    const place = await ground();
    const storage = await open(place.path);
    const ids = await fill(storage);
    const removed = [idOf(0), idOf(STORED.length)];
    expect(await storage.captureStore.remove(removed)).toMatchObject({ screenshots: 1, records: 2 });
    await storage.close();
    await destroy(place.path);
    expect((await rebuild(place)).stdout).toBe(`${ids.length - 2} records written\n`);
    const after = await open(place.path);
    expect((await after.results.oldest(100, ID * 2)).toSorted()).toEqual(
      ids.filter((id) => !removed.includes(id)).toSorted(),
    );
    await after.close();
  });

  it('names captures whose record cannot be read, and writes the others', async () => {
    const place = await ground();
    const storage = await open(place.path);
    const ids = await fill(storage);
    await storage.close();
    const data = join(place.path, 'data');
    await writeFile(join(captureDirectory(data, idOf(1)), 'record.json'), '{"id":');
    await writeFile(join(captureDirectory(data, idOf(STORED.length)), 'record.json'), '');
    await destroy(place.path);
    const { code, stdout } = await rebuild(place);
    expect(stdout).toContain(`capture ${idOf(1)}: its record cannot be read: `);
    expect(stdout).toContain(`capture ${idOf(STORED.length)}: its record cannot be read: `);
    expect(stdout).toContain(`${ids.length - 2} records written\n`);
    expect(code).toBe(1);
  });
});
