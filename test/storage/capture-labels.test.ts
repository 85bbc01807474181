import { afterAll, beforeAll, expect, it } from 'vitest';
import { STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { MAX_LABELS_LOOKED_THROUGH } from '../../src/storage/ports/label-store.ts';
import { describeInEachDatabase } from './each-database.ts';

const MAX_LABELS_OF_KEY = STORED_LIMITS.labels.count;

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

  it('forgets the oldest labels of a key that has too many, or too many bytes of them, and none of other keys', async () => {
    const { labels } = database;
    await labels.note('calm', ['Lighthouse']);
    await labels.note('flood', ['Lighthouse']);
    await labels.note(
      'flood',
      Array.from({ length: MAX_LABELS_OF_KEY }, (_, at) => `buoy ${at}`),
    );
    expect(await labels.find('lighthouse', 20, 'flood')).toEqual([]);
    expect(await labels.find('buoy 999', 20, 'flood')).toEqual(['buoy 999']);
    for (let at = 0; at < 4; at += 1) await labels.note('flood', [`large ${at} ${'x'.repeat(150_000)}`]);
    expect(await labels.find('buoy', 20, 'flood')).toEqual([]);
    expect(await labels.find('large', 20, 'flood')).toHaveLength(3);
    expect(await labels.find('lighthouse', 20, 'calm')).toEqual(['Lighthouse']);
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
