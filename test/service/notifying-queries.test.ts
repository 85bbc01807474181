import { afterAll, beforeAll, expect, it } from 'vitest';
import { packWords } from '../../src/capture/result/page-words.ts';
import { createFactsReader } from '../../src/feed/event-facts.ts';
import { notifyingQueries } from '../../src/service/receivers/notifying-queries.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { resultOf } from '../http/stored-capture.ts';
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

  it('looks at many events in several turns', async () => {
    const { queries } = database;
    for (const id of ['one', 'two']) {
      const filter = JSON.stringify({ where: { words: 'kite' } });
      const own = { id, apiKeyName: null, filter, position: 1, notify: [id], notifyAfter: 1, keysShare: false };
      await queries.add(own);
    }
    let [inTurn, most, isWatched] = [0, 0, true];
    const nextTurn = () => {
      inTurn = 0;
      if (isWatched) setImmediate(nextTurn);
    };
    const read = createFactsReader();
    const matching = notifyingQueries({
      queries,
      factsOf: (event) => {
        inTurn += 1;
        most = Math.max(most, inTurn);
        return read(event);
      },
      keyOf: (_, name) => name,
      seesNow: () => undefined,
    });
    nextTurn();
    const body = JSON.stringify({ result: resultOf(1, {}) });
    const words = packWords({ text: `${'a b '.repeat(16_000)} kite`, places: [] });
    const events = Array.from({ length: 20 }, (_, at) => {
      return { id: at + 2, type: 'capture.stored', host: null, batch: null, body, words };
    });
    const told = await matching(events);
    isWatched = false;
    expect(told.map((all) => all.map(({ receiver }) => receiver).toSorted())).toEqual(events.map(() => ['one', 'two']));
    expect(most).toBeLessThan(20);
    for (const id of ['one', 'two']) await queries.remove(id);
  });
});
