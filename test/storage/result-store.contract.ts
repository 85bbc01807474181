import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_MARKS } from '../../src/capture/finding/marks.ts';
import type { Result } from '../../src/capture/result/result.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import {
  endsList,
  type Keyset,
  MAX_READ_CHARACTERS,
  pagesOf,
  type ResultFilter,
  type ResultStore,
} from '../../src/storage/ports/result-store.ts';
import { BY_HOST_TABLE } from './by-host-table.ts';
import { EVIDENCE, resultOf } from './result-of.ts';

/** An empty database, which may be opened more than once. */
export interface EmptyDatabase {
  open(): Promise<Database>;
  remove(): Promise<void>;
}

const FIRST_ID = 300_000_000_000_000;
const HASH = '7c1e3fa05b92d846';
const TIME = '2026-01-02T03:04:05.678Z';

/** Requirements of every result store, checked on a real database. */
export function describeResultStore(create: () => Promise<EmptyDatabase>): void {
  let empty: EmptyDatabase;
  let database: Database;
  let store: ResultStore;
  let opened: Database[];

  const open = async () => {
    const another = await empty.open();
    opened.push(another);
    return another;
  };

  beforeEach(async () => {
    opened = [];
    empty = await create();
    database = await open();
    store = database.results;
  });

  afterEach(async () => {
    for (const one of opened) await one.close();
    await empty.remove();
  });

  it('reports up while it is open, and down once it is closed', async () => {
    expect(store.state).toBe('up');
    await database.close();
    expect(store.state).toBe('down');
    await expect(store.get(1)).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(store.insert(resultOf(1))).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(store.delete([1])).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(store.similar({ hash: HASH, distance: 5, except: 0 }, 1)).rejects.toMatchObject({
      code: 'database_unavailable',
    });
    await expect(store.oldest(1, 2)).rejects.toMatchObject({ code: 'database_unavailable' });
  });

  it('returns records as inserted, including unknown keys, in their order', async () => {
    const result = { ...resultOf(FIRST_ID), later: { deep: [1, 'two', null, { 'a.b': true, $c: 1.5 }] }, empty: '' };
    await store.insert(result);
    const read = await store.get(result.id);
    expect(read).toEqual({ ...result, evidence: null });
    expect(Object.keys(read ?? {})).toEqual([...Object.keys(result), 'evidence']);
    expect(await store.page({ by: 'all' }, 1)).toEqual([result]);
  });

  it('returns the evidence with a single record, and lists without it', async () => {
    await store.insert({ ...resultOf(FIRST_ID), evidence: EVIDENCE });
    await store.insert(resultOf(FIRST_ID + 1));
    expect(await store.get(FIRST_ID)).toEqual({ ...resultOf(FIRST_ID), evidence: EVIDENCE });
    expect(await store.get(FIRST_ID + 1)).toEqual({ ...resultOf(FIRST_ID + 1), evidence: null });
    expect(await store.page({ by: 'all' }, 2)).toEqual([resultOf(FIRST_ID + 1), resultOf(FIRST_ID)]);
  });

  it('returns records by their ids without evidence, of one API key alone when it is named', async () => {
    await store.insert({ ...resultOf(FIRST_ID, { api_key_name: 'shop' }), evidence: EVIDENCE });
    await store.insert({ ...resultOf(FIRST_ID + 1), evidence: EVIDENCE });
    const ids = [FIRST_ID + 1, FIRST_ID, FIRST_ID + 2];
    expect((await store.records(ids)).get(FIRST_ID)).toEqual(resultOf(FIRST_ID, { api_key_name: 'shop' }));
    expect([...(await store.records(ids)).keys()].sort()).toEqual([FIRST_ID, FIRST_ID + 1]);
    expect([...(await store.records(ids, 'shop')).keys()]).toEqual([FIRST_ID]);
    expect([...(await store.records(ids, '')).keys()]).toEqual([FIRST_ID + 1]);
  });

  it('ends a page with the record by which it is large, and reads on after it', async () => {
    const count = 60;
    const url = 'http://large.example/';
    for (let at = 0; at < count; at += 1) {
      const probedAt = new Date(Date.parse(TIME) + at * 1000).toISOString();
      await store.insert(
        resultOf(FIRST_ID + at, {
          url,
          host: 'large.example',
          probed_at: probedAt,
          options: { text: 'x'.repeat(50_000) },
        }),
      );
    }
    const filters: readonly ResultFilter[] = [
      { by: 'all' },
      { by: 'url', url },
      { by: 'host', host: 'large.example' },
      { by: 'all', where: { outcome: 'stored' } },
    ];
    for (const filter of filters) {
      const page = await store.page(filter, count);
      expect(page.length).toBe(Math.ceil(MAX_READ_CHARACTERS / JSON.stringify(page[0]).length));
      expect(endsList(page, count)).toBe(false);
      const all = await Array.fromAsync(pagesOf(store, filter, count));
      expect(all.flat().map(({ id }) => id)).toEqual(
        Array.from({ length: count }, (_, at) => FIRST_ID + count - 1 - at),
      );
    }
  });

  it('deletes the evidence with its record', async () => {
    await store.insert({ ...resultOf(FIRST_ID), evidence: EVIDENCE });
    await store.delete([FIRST_ID]);
    await store.insert(resultOf(FIRST_ID));
    expect(await store.get(FIRST_ID)).toEqual({ ...resultOf(FIRST_ID), evidence: null });
  });

  it('returns nothing for an id that was not inserted', async () => {
    expect(await store.get(FIRST_ID)).toBeUndefined();
    expect(await store.get(Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });

  it('accepts the same id again without an error, and keeps the first record', async () => {
    await store.insert(resultOf(FIRST_ID, { title: 'first' }));
    await store.insert(resultOf(FIRST_ID, { title: 'second' }));
    await Promise.all([1, 1, 2, 2, 3].map((at) => store.insert(resultOf(FIRST_ID + at, { title: `${at}` }))));
    expect((await store.page({ by: 'all' }, 10)).map(({ title }) => title)).toEqual(['3', '2', '1', 'first']);
  });

  it('stores the other records when one of several concurrent ones cannot be written', async () => {
    const written = await Promise.allSettled([
      store.insert(resultOf(FIRST_ID)),
      store.insert(resultOf(FIRST_ID + 1)),
      store.insert(resultOf(FIRST_ID + 2, { probed_at: 'yesterday' })),
      store.insert(resultOf(FIRST_ID + 3)),
    ]);
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  });

  it('makes an inserted record visible to every other process', async () => {
    const { results: other } = await open();
    await store.insert(resultOf(FIRST_ID));
    expect(await other.get(FIRST_ID)).toMatchObject(resultOf(FIRST_ID));
  });

  it('pages newest first, without loss or repetition where times are equal', async () => {
    const results = Array.from({ length: 60 }, (_, at) =>
      resultOf(FIRST_ID + at, { probed_at: at % 3 === 0 ? TIME : `2026-01-02T03:04:0${at % 7}.000Z` }),
    );
    await insertAll(store, shuffled(results));
    const expected = [...results].sort(newestFirst).map(({ id }) => id);
    for (const filter of [
      { by: 'all' },
      { by: 'host', host: 'example' },
      { by: 'url', url: 'https://example.com/' },
    ] as const) {
      for (const limit of [1, 7, 60, 1000]) expect(await idsOf(store, filter, limit)).toEqual(expected);
    }
  });

  it('finds captures by any spelling of their URL, by their final URL, and by a second URL', async () => {
    await insertAll(store, [
      resultOf(FIRST_ID, { url: 'HTTPS://Example.com', final_url: 'https://example.com/home' }),
      resultOf(FIRST_ID + 1, { url: 'https://example.com/home', final_url: 'https://example.com/home' }),
      resultOf(FIRST_ID + 2, { url: 'http://example.com/', final_url: '' }),
    ]);
    const found = (url: string, orUrl?: string) => idsOf(store, { by: 'url', url, orUrl }, 10);
    expect(await found('https://example.com:443/')).toEqual([FIRST_ID]);
    expect(await found('https://example.com/home')).toEqual([FIRST_ID + 1, FIRST_ID]);
    expect(await found('https://example.com', 'http://example.com')).toEqual([FIRST_ID + 2, FIRST_ID]);
    expect(await idsOf(store, { by: 'url', url: 'https://example.com/home' }, 1)).toEqual([FIRST_ID + 1, FIRST_ID]);
  });

  it.each([
    ['http://example.com/x|y', 'http://example.com/x%7Cy'],
    ['http://example.com/%7Eida/%61', 'http://example.com/~ida/a'],
    ['http://example.com/caf%c3%a9', 'http://example.com/café'],
    ['http://example.com/?a[]=1&b=^', 'http://example.com/?a%5B%5D=1&b=%5E'],
    ['http://example.com/?q={"a":`b`}', 'http://example.com/?q=%7B%22a%22:%60b%60%7D'],
    ['http://example.com/x?', 'http://example.com/x?#'],
  ])('finds %s and %s by each other', async (one, other) => {
    await insertAll(store, [resultOf(FIRST_ID, { url: one }), resultOf(FIRST_ID + 1, { url: other })]);
    for (const url of [one, other])
      expect(await idsOf(store, { by: 'url', url }, 10)).toEqual([FIRST_ID + 1, FIRST_ID]);
  });

  it.each([
    ['http://example.com/a%2Fb', 'http://example.com/a/b'],
    ['http://example.com/a%3Fb', 'http://example.com/a?b'],
    ['http://example.com/?a=1%262', 'http://example.com/?a=1&2'],
    ['http://example.com/?a+b', 'http://example.com/?a%2Bb'],
    ['http://example.com/50%25', 'http://example.com/50%'],
    ['http://example.com/%E9', 'http://example.com/é'],
  ])('does not take %s for %s', async (one, other) => {
    await insertAll(store, [resultOf(FIRST_ID, { url: one }), resultOf(FIRST_ID + 1, { url: other })]);
    expect(await idsOf(store, { by: 'url', url: one }, 10)).toEqual([FIRST_ID]);
    expect(await idsOf(store, { by: 'url', url: other }, 10)).toEqual([FIRST_ID + 1]);
  });

  it('finds a URL with any fragment by the URL without one, and the other way round, but not one fragment by another', async () => {
    const page = 'http://example.com/app';
    await insertAll(store, [
      resultOf(FIRST_ID, { url: page, final_url: `${page}#/inbox` }),
      resultOf(FIRST_ID + 1, { url: page, final_url: page }),
      resultOf(FIRST_ID + 2, { url: `${page}#/inbox`, final_url: '' }),
      resultOf(FIRST_ID + 3, { url: `${page}#/sent`, final_url: '' }),
    ]);
    const found = async (url: string) =>
      (await idsOf(store, { by: 'url', url }, 10)).map((id) => id - FIRST_ID).toSorted();
    expect(await found(page)).toEqual([0, 1, 2, 3]);
    expect(await found(`${page}#`)).toEqual([0, 1, 2, 3]);
    expect(await found(`${page}#/inbox`)).toEqual([0, 1, 2]);
    expect(await found(`${page}#/none`)).toEqual([0, 1]);
  });

  it('finds exactly the given URL, even of 8,192 characters, and no similar one', async () => {
    const long = `https://example.com/${'ä'.repeat(8172)}`;
    const urls = [
      'https://example.com/a',
      'https://example.com/A',
      'https://example.com/a/',
      long,
      `${long.slice(0, -1)}b`,
    ];
    await insertAll(
      store,
      urls.map((url, at) => resultOf(FIRST_ID + at, { url })),
    );
    for (const [at, url] of urls.entries()) expect(await idsOf(store, { by: 'url', url }, 10)).toEqual([FIRST_ID + at]);
    expect(await idsOf(store, { by: 'url', url: 'https://example.com/%' }, 10)).toEqual([]);
  });

  it('finds by host as the contract specifies', async () => {
    const hosts = [...new Set(BY_HOST_TABLE.flatMap((line) => [...line.hosts, ...line.others]))];
    await insertAll(
      store,
      hosts.map((host, at) => resultOf(FIRST_ID + at, { host })),
    );
    for (const { value, hosts, others } of BY_HOST_TABLE) {
      const found = (await store.page({ by: 'host', host: value }, 1000)).map(({ host }) => host);
      expect(found, value).toEqual(expect.arrayContaining([...hosts]));
      for (const other of others) expect(found, value).not.toContain(other);
    }
  });

  it('finds by host for any characters in a host, with few and many hosts, and pages of every size', async () => {
    const random = fc.sample(anyHost, { numRuns: 600, seed: 5 });
    const results = random.map((host, at) => resultOf(FIRST_ID + at, { host, probed_at: timeAt(at % 400) }));
    await insertAll(store, shuffled(results));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyHost, beginningOf(random)),
        fc.constantFrom(1, 2, 50, 1000),
        async (value, limit) => {
          if (value.trim() === '') return;
          const expected = results
            .filter(({ host }) => host.startsWith(value) || host.endsWith(`.${value}`))
            .sort(newestFirst)
            .slice(0, limit === 1000 ? 1000 : limit * 4)
            .map(({ id }) => id);
          expect(await idsOf(store, { by: 'host', host: value }, limit, 4)).toEqual(expected);
        },
      ),
      { numRuns: 100, seed: 3 },
    );
  });

  it('treats any text in a host, URL or title as data', async () => {
    let id = FIRST_ID;
    await fc.assert(
      fc.asyncProperty(anything, anything, async (host, url) => {
        id += 1;
        const result = resultOf(id, { host, url, title: url });
        await store.insert(result);
        expect(await store.get(id)).toEqual({ ...result, evidence: null });
        expect(await store.page({ by: 'url', url }, 1)).toEqual([result]);
        const found = await store.page({ by: 'host', host }, 1000);
        expect(found.every((one) => typeof one.host === 'string')).toBe(true);
      }),
      { numRuns: 60, seed: 11 },
    );
    expect(await idsOf(store, { by: 'all' }, 1000)).toHaveLength(id - FIRST_ID);
  });

  it('finds similar captures, nearest first and then newest, exact to the bit', async () => {
    // Few random captures are similar, so these masks make some that are similar and some that almost are.
    const masks = fc.sample(fc.uniqueArray(fc.nat(63), { maxLength: 20 }), { numRuns: 300, seed: 7 });
    const hashes = [HASH, HASH, ...masks.map((bits) => bits.reduce(flipped, HASH))];
    const plain = ['0000000000000000', 'ffffffffffffffff', '0000000000000000'];
    await insertAll(
      store,
      shuffled([...hashes, ...plain].map((perception_hash, at) => resultOf(FIRST_ID + at, { perception_hash }))),
    );
    await store.insert(resultOf(FIRST_ID + 1000));
    const expected = hashes
      .map((hash, at) => ({ id: FIRST_ID + at, distance: differing(hash, HASH) }))
      .filter(({ id }) => id !== FIRST_ID)
      .sort((a, b) => a.distance - b.distance || b.id - a.id);
    for (const distance of [0, 1, 3, 4, 5, 7, 8, 11, 12, 15]) {
      const near = expected.filter((one) => one.distance <= distance);
      for (const limit of [1, 7, near.length - 2, 1000]) {
        const found = await store.similar({ hash: HASH, distance, except: FIRST_ID }, limit);
        expect(found).toEqual(near.slice(0, limit));
      }
    }
    const zeros = { hash: '0000000000000000', distance: 15, except: 0 };
    const ids = (await store.similar(zeros, 10)).map(({ id }) => id - FIRST_ID - hashes.length);
    expect(ids).toEqual([2, 0]);
  });

  it('returns no deleted similar captures', async () => {
    const [first, second] = [FIRST_ID, FIRST_ID + 1].map((id) => resultOf(id, { perception_hash: HASH }));
    if (first === undefined || second === undefined) throw new Error('there are two');
    await store.insert({ ...first, evidence: EVIDENCE });
    await store.insert({ ...second, evidence: EVIDENCE });
    const likeness = { hash: HASH, distance: 0, except: 0 };
    expect(await store.similar(likeness, 10)).toEqual([
      { id: second.id, distance: 0 },
      { id: first.id, distance: 0 },
    ]);
    await store.delete([second.id]);
    expect(await store.similar(likeness, 10)).toEqual([{ id: first.id, distance: 0 }]);
    await store.delete([first.id]);
    expect(await store.similar(likeness, 10)).toEqual([]);
    await store.insert(second);
    expect(await store.similar(likeness, 10)).toEqual([{ id: second.id, distance: 0 }]);
  });

  it('lists the records of one API key alone, in pages of every size and in every process', async () => {
    const { results: other } = await open();
    // Names that differ in case and punctuation alone, and one that begins with another.
    const names = ['shop', 'Shop', 'shop.2', 'shop-2', undefined];
    const results = Array.from({ length: 60 }, (_, at) =>
      resultOf(FIRST_ID + at, {
        host: `${at % 2}.example`,
        probed_at: at % 3 === 0 ? TIME : `2026-01-02T03:04:0${at % 7}.000Z`,
        ...(at % 4 === 0 && { failed: true, failed_code: 'target_unreachable' as const }),
        api_key_name: names[at % names.length],
      }),
    );
    await insertAll(store, shuffled(results));
    for (const ofKey of names) {
      const own = results
        .filter(({ api_key_name: name }) => ofKey === undefined || name === ofKey)
        .sort(newestFirst)
        .map(({ id, host, failed }) => ({ id, host, failed }));
      const ids = (isIn: (one: (typeof own)[number]) => boolean) => own.filter(isIn).map(({ id }) => id);
      for (const one of [store, other]) {
        for (const limit of [1, 7, 60]) {
          expect(await idsOf(one, { by: 'all', ofKey }, limit)).toEqual(ids(() => true));
          const atHost = ids(({ host }) => host === '1.example');
          expect(await idsOf(one, { by: 'host', host: '1.ex', ofKey }, limit)).toEqual(atHost);
          expect(await idsOf(one, { by: 'url', url: 'https://1.example', ofKey }, limit)).toEqual(atHost);
          const where = { outcome: 'failed' } as const;
          expect(await idsOf(one, { by: 'all', where, ofKey }, limit)).toEqual(ids(({ failed }) => failed));
        }
      }
    }
    expect(await idsOf(store, { by: 'all', ofKey: 'sho' }, 10)).toEqual([]);
    expect(await idsOf(store, { by: 'all', ofKey: '' }, 10)).toEqual([]);
  });

  it('finds similar captures of one API key alone, as many as are wanted', async () => {
    const results = Array.from({ length: 40 }, (_, at) =>
      resultOf(FIRST_ID + at, {
        perception_hash: at % 2 === 0 ? HASH : flipped(HASH, 3),
        api_key_name: at < 10 ? 'shop' : at < 30 ? 'news' : undefined,
      }),
    );
    await insertAll(store, shuffled(results));
    const likeness = { hash: HASH, distance: 1, except: FIRST_ID, ofKey: 'shop' };
    const found = async (limit: number) => (await store.similar(likeness, limit)).map(({ id }) => id - FIRST_ID);
    expect(await found(100)).toEqual([8, 6, 4, 2, 9, 7, 5, 3, 1]);
    expect(await found(5)).toEqual([8, 6, 4, 2, 9]);
    await store.delete([FIRST_ID + 8]);
    expect(await found(2)).toEqual([6, 4]);
    expect(await store.similar({ ...likeness, ofKey: 'nobody' }, 10)).toEqual([]);
  });

  it('deletes records from every list and in every process, and returns the number of deleted records', async () => {
    const { results: other } = await open();
    await insertAll(
      store,
      ['a.example', 'a.example', 'b.example', 'c.example'].map((host, at) => resultOf(FIRST_ID + at, { host })),
    );
    expect(await store.delete([FIRST_ID, FIRST_ID + 2, FIRST_ID + 9])).toEqual({ deleted: 2, held: [] });
    expect(await store.delete([FIRST_ID])).toEqual({ deleted: 0, held: [] });
    expect(await store.delete([])).toEqual({ deleted: 0, held: [] });
    for (const one of [store, other]) {
      expect(await one.get(FIRST_ID)).toBeUndefined();
      expect(await idsOf(one, { by: 'all' }, 10)).toEqual([FIRST_ID + 3, FIRST_ID + 1]);
      expect(await idsOf(one, { by: 'url', url: 'https://a.example/' }, 10)).toEqual([FIRST_ID + 1]);
      expect(await idsOf(one, { by: 'host', host: 'a.example' }, 10)).toEqual([FIRST_ID + 1]);
      expect(await idsOf(one, { by: 'host', host: 'b' }, 10)).toEqual([]);
    }
  });

  it('replaces marks only while they are those that were read, and finds records by them alone', async () => {
    const { results: other } = await open();
    await insertAll(
      store,
      [0, 1, 2].map((at) => resultOf(FIRST_ID + at, { labels: ['old'], probed_at: TIME })),
    );
    const hold = { at: TIME, by: 'root' };
    const [before, after] = [
      { ...NO_MARKS, labels: ['old'] },
      { labels: ['new', 'Grüße'], note: 'x\u0000', hold },
    ];
    expect(await store.mark(FIRST_ID + 1, NO_MARKS, after)).toBe(false);
    expect(await store.mark(FIRST_ID + 9, NO_MARKS, after)).toBe(false);
    expect(await store.mark(FIRST_ID + 1, before, after)).toBe(true);
    expect(await store.mark(FIRST_ID + 1, before, after)).toBe(false);
    for (const one of [store, other]) {
      expect(await one.get(FIRST_ID + 1)).toMatchObject({ ...after, title: resultOf(1).title });
      expect(await idsOf(one, { by: 'all', where: { label: ['new', 'Grüße'] } }, 10)).toEqual([FIRST_ID + 1]);
      expect(await idsOf(one, { by: 'all', where: { label: ['old'] } }, 10)).toEqual([FIRST_ID + 2, FIRST_ID]);
      expect(await idsOf(one, { by: 'all', where: { held: 'true' } }, 10)).toEqual([FIRST_ID + 1]);
      expect(await idsOf(one, { by: 'host', host: 'example.com' }, 10)).toHaveLength(3);
    }
    const marked = await store.marked([FIRST_ID, FIRST_ID + 1, FIRST_ID + 9]);
    expect([...marked.keys()].toSorted()).toEqual([FIRST_ID, FIRST_ID + 1]);
    expect(marked.get(FIRST_ID + 1)).toEqual({ labels: ['new', 'Grüße'], hold });
  });

  it('deletes no held record, and says which were held', async () => {
    const hold = { at: TIME, by: '' };
    await insertAll(store, [resultOf(FIRST_ID, { hold }), resultOf(FIRST_ID + 1)]);
    expect(await store.delete([FIRST_ID, FIRST_ID + 1])).toEqual({ deleted: 1, held: [FIRST_ID] });
    expect(await store.get(FIRST_ID)).toMatchObject({ hold });
    expect(await store.mark(FIRST_ID, { ...NO_MARKS, hold }, NO_MARKS)).toBe(true);
    expect(await store.delete([FIRST_ID])).toEqual({ deleted: 1, held: [] });
  });

  it('accepts a deleted id again', async () => {
    await store.insert(resultOf(FIRST_ID, { host: 'again.example', title: 'first' }));
    await store.delete([FIRST_ID]);
    await store.insert(resultOf(FIRST_ID, { host: 'again.example', title: 'second' }));
    expect(await store.page({ by: 'host', host: 'again' }, 10)).toMatchObject([{ id: FIRST_ID, title: 'second' }]);
  });

  it('lists its oldest ids in steps', async () => {
    await insertAll(store, shuffled(Array.from({ length: 30 }, (_, at) => resultOf(FIRST_ID + at))));
    expect(await store.oldest(3, FIRST_ID + 5)).toEqual([FIRST_ID, FIRST_ID + 1, FIRST_ID + 2]);
    expect(await store.oldest(3, FIRST_ID + 5, FIRST_ID + 2)).toEqual([FIRST_ID + 3, FIRST_ID + 4]);
    expect(await store.oldest(3, FIRST_ID + 5, FIRST_ID + 4)).toEqual([]);
    expect(await store.oldest(100, Number.MAX_SAFE_INTEGER)).toHaveLength(30);
  });

  describe('nodes', () => {
    it('leases a different node to each open store, and keeps it', async () => {
      const other = await open();
      const [first, second] = await Promise.all([database.nodes.claim(), other.nodes.claim()]);
      expect(new Set([first, second])).toEqual(new Set([0, 1]));
      expect(await database.nodes.claim()).toBe(first);
      expect(await other.nodes.claim()).toBe(second);
    });

    it('leases no node once the store is closed', async () => {
      await database.nodes.claim();
      await database.close();
      expect(await (await open()).nodes.claim()).toBe(1);
    });
  });
}

const label = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), minLength: 1, maxLength: 3 });
const anyHost = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));

const HOSTILE = [
  "' OR 1=1 --",
  '"; DROP TABLE results; --',
  '$where',
  '{"$gt":""}',
  '.*',
  '^',
  '(?i)a',
  '\\E',
  'a\u0000b',
  '%',
  '[a-z]',
  'a|b',
  '\\x65',
  '(a+)+$',
  '__proto__',
];
const anything = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ minLength: 1 }),
  fc.string({ unit: 'binary', minLength: 1 }),
);

function beginningOf(hosts: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...hosts), fc.nat(8)).map(([host, length]) => host.slice(0, length + 1));
}

function timeAt(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
}

async function insertAll(store: ResultStore, results: readonly Result[]): Promise<void> {
  await Promise.all(results.map((result) => store.insert(result)));
}

/** Ids of a list, page by page, up to this number of pages. */
async function idsOf(store: ResultStore, filter: ResultFilter, limit: number, pages = 1000): Promise<number[]> {
  const ids: number[] = [];
  let after: Keyset | undefined;
  for (let at = 0; at < pages; at += 1) {
    const page = await store.page(filter, limit, after);
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined || page.length < limit) break;
    after = { probedAt: last.probed_at, id: last.id };
  }
  return ids;
}

function newestFirst(a: Result, b: Result): number {
  return Date.parse(b.probed_at) - Date.parse(a.probed_at) || b.id - a.id;
}

function shuffled<T>(items: readonly T[]): T[] {
  return fc.sample(fc.shuffledSubarray([...items], { minLength: items.length }), { numRuns: 1, seed: 1 })[0] ?? [];
}

function flipped(hash: string, bit: number): string {
  return (BigInt(`0x${hash}`) ^ (1n << BigInt(bit))).toString(16).padStart(16, '0');
}

function differing(a: string, b: string): number {
  return [...(BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2)].filter((bit) => bit === '1').length;
}
