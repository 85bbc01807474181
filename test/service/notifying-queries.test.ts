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

  it('stops telling receivers of queries, and of keys, that are removed while it looks at events', async () => {
    const { queries } = database;
    for (const id of ['stays', 'removed', 'of-removed-key']) {
      const own = { id, apiKeyName: id, filter: JSON.stringify({ where: { status: '200' } }), position: 1 };
      await queries.add({ ...own, notify: [id], notifyAfter: 1, keysShare: false });
    }
    const read = createFactsReader();
    const last = { key: true, looks: 0 };
    const matching = notifyingQueries({
      queries,
      factsOf: (event) => {
        last.looks += 1;
        if (last.looks === 1) {
          void queries.remove('removed');
          last.key = false;
        }
        for (const since = performance.now(); performance.now() - since < 11; );
        return read(event);
      },
      keyOf: (_, name) => name,
      seesNow: (name) => (name === 'of-removed-key' && !last.key ? null : undefined),
    });
    const body = JSON.stringify({ result: resultOf(1, {}) });
    const events = Array.from({ length: 5 }, (_, at) => ({
      ...{ id: at + 2, type: 'capture.stored', host: null, batch: null, body },
    }));
    const told = await matching(events);
    expect(told.at(-1)?.map(({ receiver }) => receiver)).toEqual(['stays']);
    await queries.remove('stays');
    await queries.remove('of-removed-key');
  });
});
