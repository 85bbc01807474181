import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/storage/ports/database.ts';
import { MAX_LABELS_LOOKED_THROUGH, MAX_LABELS_OF_KEY } from '../../src/storage/ports/label-store.ts';
import { describeInEachDatabase } from './each-database.ts';

describeInEachDatabase((open) => {
  let database: Database;

  beforeAll(async () => {
    database = await open();
  });

  afterAll(() => database?.close());

  it('finds a new label of any key among more labels of other keys than are looked through', async () => {
    const { labels } = database;
    const many = Array.from({ length: MAX_LABELS_OF_KEY }, (_, at) => `earlier ${at}`);
    for (let key = 0; key <= MAX_LABELS_LOOKED_THROUGH / MAX_LABELS_OF_KEY; key += 1)
      await labels.note(`key-${key}`, many);
    await labels.note('last-key', ['zebra']);
    expect(await labels.find('zebra', 20)).toEqual(['zebra']);
    expect(await labels.find('zebra', 20, 'last-key')).toEqual(['zebra']);
    expect(await labels.find('zebra', 20, 'key-0')).toEqual([]);
    expect(await labels.find('earlier 99', 3)).toEqual(['earlier 99', 'earlier 990', 'earlier 991']);
  });

  it('forgets labels of one key or of all', async () => {
    const { labels } = database;
    for (const key of ['one', 'other']) await labels.note(key, ['Harbour']);
    await labels.forget(['Harbour'], 'one');
    expect(await labels.find('harbour', 20, 'one')).toEqual([]);
    expect(await labels.find('harbour', 20)).toEqual(['Harbour']);
    await labels.forget(['Harbour']);
    expect(await labels.find('harbour', 20)).toEqual([]);
  });
});
