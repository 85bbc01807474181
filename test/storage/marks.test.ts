import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Marks } from '../../src/capture/marks.ts';
import { rebuildDatabase } from '../../src/storage/maintenance/maintenance.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { around, databaseFile, keepPicture, openParts, type Parts } from './parts.ts';
import { captureOf } from './result-of.ts';

const ID = createIdSource({ clock: () => Date.UTC(2026, 10, 21, 9), node: 3 }).next();
const MARKS: Marks = { labels: ['legal', 'Grüße'], note: 'x', hold: { at: '2026-01-02T03:04:05.678Z', by: 'root' } };

describe('marks of captures', () => {
  let directory: string;
  let parts: Parts;

  beforeEach(async () => {
    directory = await makeDirectory();
    parts = await openParts(directory);
  });

  afterEach(() => parts.close());

  it('survive the loss of the database, those of failed captures too', async () => {
    await keepPicture(parts.captureStore, ID, { labels: ['of the request'] });
    await keepPicture(parts.captureStore, ID + 1);
    await parts.captureStore.keep(captureOf(ID + 2, { failed: true }), null);
    for (const id of [ID + 1, ID + 2]) await parts.captureStore.mark(id, () => MARKS);
    await parts.close();
    const dbPath = databaseFile(directory);
    for (const suffix of ['', '-wal', '-shm']) await rm(`${dbPath}${suffix}`, { force: true });
    const places = { dataDir: join(directory, 'data'), dbPath, mongoUrl: null, artifacts: 'files' } as const;
    expect(await rebuildDatabase(places, () => {})).toMatchObject({ written: 3, unreadable: 0 });
    parts = await openParts(directory);
    expect(await parts.results.get(ID)).toMatchObject({ labels: ['of the request'], hold: null });
    for (const id of [ID + 1, ID + 2]) expect(await parts.results.get(id)).toMatchObject(MARKS);
    expect((await parts.results.page({ by: 'all', where: { label: ['legal'] } }, 9)).map(({ id }) => id)).toEqual([
      ID + 2,
      ID + 1,
    ]);
  });

  it('keeps record and files of a capture that is held while its removal has begun', async () => {
    await keepPicture(parts.captureStore, ID);
    await parts.close();
    parts = await openParts(directory, {
      change: ({ results }) => ({
        results: around(results, {
          delete: async (ids: readonly number[]) => {
            await parts.captureStore.mark(ID, (marks) => ({ ...marks, hold: MARKS.hold }));
            return results.delete(ids);
          },
        }),
      }),
    });
    expect(await parts.captureStore.remove([ID])).toEqual({ screenshots: 0, records: 0, bytes_freed: 0, held: [ID] });
    expect(await parts.results.get(ID)).toMatchObject({ hold: MARKS.hold });
    expect(await parts.artifacts.has(ID)).toBe(true);
  });
});
