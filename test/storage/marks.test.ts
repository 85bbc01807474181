import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Marks } from '../../src/capture/finding/marks.ts';
import { rebuildDatabase } from '../../src/storage/maintenance/maintenance.ts';
import type { Places } from '../../src/storage/maintenance/places.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import { describeWithPlaces } from '../faults/killed-writers.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { around, keepPicture, openParts, type Parts, type PartsOptions } from './parts.ts';
import { captureOf } from './result-of.ts';

const ID = createIdSource({ clock: () => Date.UTC(2026, 10, 21, 9), node: 3 }).next();
const MARKS: Marks = { labels: ['legal', 'Grüße'], note: 'x', hold: { at: '2026-01-02T03:04:05.678Z', by: 'root' } };

describeWithPlaces('marks of captures', (places) => {
  let parts: Parts;
  const open = (options: PartsOptions = {}) => {
    const { dataDir, mongoUrl } = places();
    return openParts(dirname(dataDir), { mongoUrl, ...options });
  };

  beforeEach(async () => {
    parts = await open();
  });

  afterEach(() => parts.close());

  it('survive the loss of the database, those of failed captures too', async () => {
    await keepPicture(parts.captureStore, ID, { labels: ['of the request'] });
    await keepPicture(parts.captureStore, ID + 1);
    await parts.captureStore.keep(captureOf(ID + 2, { failed: true }), null);
    for (const id of [ID + 1, ID + 2]) await parts.captureStore.mark(id, () => MARKS);
    await parts.close();
    await lose(places());
    expect(await rebuildDatabase(places(), () => {})).toMatchObject({ written: 3, unreadable: 0 });
    parts = await open();
    expect(await parts.results.get(ID)).toMatchObject({ labels: ['of the request'], hold: null });
    for (const id of [ID + 1, ID + 2]) expect(await parts.results.get(id)).toMatchObject(MARKS);
    for (const where of [{ label: ['legal'] }, { held: 'true' }] as const) {
      const found = await parts.results.page({ by: 'all', where }, 9);
      expect(found.map(({ id }) => id)).toEqual([ID + 2, ID + 1]);
    }
  });

  it('keeps record and files of a capture that is held while its removal has begun', async () => {
    await keepPicture(parts.captureStore, ID);
    await parts.close();
    parts = await open({
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

async function lose({ dbPath, mongoUrl }: Places): Promise<void> {
  if (mongoUrl !== null) return emptyDatabase(mongoUrl);
  for (const suffix of ['', '-wal', '-shm']) await rm(`${dbPath}${suffix}`, { force: true });
}
