import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packWords } from '../../src/capture/result/page-words.ts';
import type { Result } from '../../src/capture/result/result.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { keysetOf, type ResultFilter, type ResultStore } from '../../src/storage/ports/result-store.ts';
import { meetsWords, wordsIn } from '../../src/words/find-words.ts';
import { wordsQuery } from '../../src/words/query.ts';
import { describeInEachDatabase, removeAll } from './each-database.ts';
import { resultOf } from './result-of.ts';

const FIRST_ID = 300_000_000_000_000;
const START = Date.UTC(2026, 0, 1);
const WORDS = [
  ...['alpha', 'beta', 'gamma', 'gammas', '苹果手机', '手机壳', 'Élan', '한국어를', 'हिन्दी', 'C++', 'c'],
  ...['Müller', 'Mueller', 'e-mail', 'email', 'الكتاب'],
];
const packed = (text: string) => packWords({ text, places: [] });

interface Indexed {
  readonly result: Result;
  readonly text: string | undefined;
}

const all: readonly Indexed[] = fc
  .sample(
    fc.record({
      words: fc.option(fc.array(fc.constantFrom(...WORDS), { maxLength: 5 })),
      host: fc.constantFrom('a.example', 'www.a.example', 'b.example'),
      status: fc.constantFrom(200, 200, 404),
      key: fc.constantFrom('shop', 'news', undefined),
      second: fc.nat(30),
    }),
    { numRuns: 150, seed: 5 },
  )
  .map(({ words, host, status, key, second }, at) => ({
    text: words?.join(' '),
    result: resultOf(FIRST_ID + at, {
      title: 'alpha beta',
      url: `https://${host}/page`,
      final_url: '',
      host,
      response_code: status,
      probed_at: new Date(START + second * 1000).toISOString(),
      ...(key === undefined ? {} : { api_key_name: key }),
    }),
  }));

const sequence = fc.oneof(
  fc.constantFrom(...WORDS, 'delta', 'gam*', 'alp*', '果手', '机', '手机', 'elan', 'ALPHA', '한국어', 'हिंदी', 'C++'),
  fc.constantFrom('muell*', 'Müll*', 'ema*', 'e-ma*', 'كتاب', '"an e-mail"'),
  fc.array(fc.constantFrom(...WORDS), { minLength: 2, maxLength: 3 }).map((words) => `"${words.join(' ')}"`),
);
const anyWords = fc
  .array(
    fc.tuple(fc.constantFrom('', '', '', '-'), sequence).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => parts.join(' '));
const anyFilter = fc.record({
  chosen: fc.constantFrom<ResultFilter>(
    { by: 'all' },
    { by: 'host', host: 'a.example' },
    { by: 'host', host: 'a' },
    { by: 'url', url: 'https://b.example/page' },
  ),
  ofKey: fc.constantFrom('shop', undefined),
  status: fc.constantFrom('200', '4xx', undefined),
  from: fc.option(
    fc.nat(30).map((second) => new Date(START + second * 1000).toISOString()),
    { nil: undefined },
  ),
});

function meets({ result, text }: Indexed, filter: ResultFilter): boolean {
  const { words = '', status, from = '' } = filter.where ?? {};
  const code = String(result.response_code);
  return (
    text !== undefined &&
    meetsWords(wordsIn(text), wordsQuery(words)) &&
    (filter.by !== 'url' || result.url === filter.url) &&
    (filter.by !== 'host' || result.host.startsWith(filter.host) || result.host.endsWith(`.${filter.host}`)) &&
    (filter.ofKey === undefined || result.api_key_name === filter.ofKey) &&
    (status === undefined || code === status || status === `${code[0]}xx`) &&
    result.probed_at >= from
  );
}

const newestFirst = (a: Result, b: Result) => Date.parse(b.probed_at) - Date.parse(a.probed_at) || b.id - a.id;

async function idsOf(store: ResultStore, filter: ResultFilter, limit: number): Promise<number[]> {
  const ids: number[] = [];
  for (let page = await store.page(filter, limit); ; ) {
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return ids;
    page = await store.page(filter, limit, keysetOf(last));
  }
}

describeInEachDatabase((open) => {
  let database: Database;
  let store: ResultStore;

  beforeEach(async () => {
    database = await open();
    store = database.results;
  });

  afterEach(async () => {
    await removeAll(store);
    await database.close();
  });

  const insert = ({ result, text }: Indexed) =>
    store.insert({ ...result, ...(text === undefined ? {} : { words: packed(text) }) });
  const found = async (words: string) => (await store.page({ by: 'all', where: { words } }, 100)).map(({ id }) => id);

  describe('a list by words of the page', () => {
    it('returns every result whose page meets the query and the other conditions, in pages of every size', async () => {
      await Promise.all(all.map(insert));
      await fc.assert(
        fc.asyncProperty(anyFilter, anyWords, fc.constantFrom(1, 7, 100), async (filter, words, limit) => {
          const { chosen, ofKey, status, from } = filter;
          const wanted: ResultFilter = { ...chosen, ofKey, where: { words, status, from } };
          const expected = all.filter((each) => meets(each, wanted)).map(({ result }) => result);
          expect(await idsOf(store, wanted, limit)).toEqual(expected.toSorted(newestFirst).map(({ id }) => id));
        }),
        { numRuns: 150, seed: 3 },
      );
    });
  });

  describe('the words of a page', () => {
    it('are read for the captures of one API key, or of all', async () => {
      const of = (name: string) => ({ title: '', api_key_name: name });
      await store.insert({ ...resultOf(FIRST_ID, of('shop')), words: packed('alpha') });
      await store.insert({ ...resultOf(FIRST_ID + 1, of('news')), words: packed('beta') });
      await store.insert(resultOf(FIRST_ID + 2, of('shop')));
      const ids = [FIRST_ID, FIRST_ID + 1, FIRST_ID + 2, FIRST_ID + 3];
      expect([...(await store.wordsOf(ids))].sort()).toEqual([
        [FIRST_ID, packed('alpha')],
        [FIRST_ID + 1, packed('beta')],
      ]);
      expect([...(await store.wordsOf(ids, 'shop'))]).toEqual([[FIRST_ID, packed('alpha')]]);
    });

    it('are added to an earlier capture once, and removed with it', async () => {
      await store.insert(resultOf(FIRST_ID, { title: 'Kept title' }));
      expect(await found('alpha')).toEqual([]);
      expect(await store.addWords(FIRST_ID, packed('alpha beta'))).toBe(true);
      expect(await store.addWords(FIRST_ID, packed('gamma'))).toBe(false);
      expect(await store.addWords(FIRST_ID + 1, packed('gamma'))).toBe(false);
      expect(await found('"alpha beta"')).toEqual([FIRST_ID]);
      expect(await found('gamma')).toEqual([]);
      expect((await store.page({ by: 'all', where: { text: 'kept', status: '2xx' } }, 10)).length).toBe(1);
      await store.delete([FIRST_ID]);
      expect(await found('alpha')).toEqual([]);
      expect((await store.wordsOf([FIRST_ID])).size).toBe(0);
    });

    it('stay when the capture is labelled', async () => {
      const record = resultOf(FIRST_ID);
      await store.insert({ ...record, words: packed('alpha beta') });
      const marks = { labels: record.labels, note: record.note, hold: record.hold };
      expect(await store.mark(FIRST_ID, marks, { ...marks, labels: ['legal'] })).toBe(true);
      const where = { words: '"alpha beta"', label: ['legal'] };
      expect((await store.page({ by: 'all', where }, 10)).map(({ id }) => id)).toEqual([FIRST_ID]);
    });

    it('stay those of the first record with an id', async () => {
      await store.insert({ ...resultOf(FIRST_ID), words: packed('alpha') });
      await store.insert({ ...resultOf(FIRST_ID), words: packed('beta') });
      expect(await found('alpha')).toEqual([FIRST_ID]);
      expect(await found('beta')).toEqual([]);
    });
  });
});
