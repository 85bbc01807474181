import { afterAll, beforeAll, expect, it } from 'vitest';
import { notifyingQueries } from '../../src/service/receivers/notifying-queries.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { describeInEachDatabase } from '../storage/each-database.ts';

describeInEachDatabase((open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database?.close());

  it('reads a query once, tells its receivers of what matches, and stops when it was removed', async () => {
    const { queries } = database;
    const add = (id: string, type: string) =>
      queries.add({
        ...{ id, apiKeyName: null, filter: JSON.stringify({ types: [type] }), position: 1 },
        ...{ notify: ['team'], notifyAfter: 1, keysShare: false },
      });
    const read: string[] = [];
    const matching = notifyingQueries({
      queries: {
        notifying: () => queries.notifying(),
        get: (id) => {
          read.push(id);
          return queries.get(id);
        },
      },
      factsOf: () => {
        throw new Error('no filter looks into events');
      },
      keyOf: (_, name) => name,
      seesNow: () => undefined,
    });
    const told = async (type: string, id = 2) =>
      (await matching([{ id, type, host: null, batch: null, body: '{}' }]))[0]?.map(({ receiver }) => receiver);
    await add('stored', 'capture.stored');
    expect(await told('capture.stored')).toEqual(['team']);
    expect(await told('capture.failed')).toEqual([]);
    expect(await told('capture.stored', 1)).toEqual([]);
    await add('failed', 'capture.failed');
    expect(await told('capture.failed')).toEqual(['team']);
    expect(read).toEqual(['stored', 'failed']);
    await queries.remove('stored');
    expect(await told('capture.stored')).toEqual([]);
    expect(read).toEqual(['stored', 'failed']);
    await queries.remove('failed');
  });
});
