import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResultConditions } from '../../src/capture/finding/result-conditions.ts';
import { outcomeOf } from '../../src/capture/result/recorded-outcome.ts';
import type { Result } from '../../src/capture/result/result.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import type { Keyset, ResultFilter, ResultStore } from '../../src/storage/ports/result-store.ts';
import { BY_HOST_TABLE } from './by-host-table.ts';
import { describeInEachDatabase, removeAll } from './each-database.ts';
import { resultOf } from './result-of.ts';

const FIRST_ID = 300_000_000_000_000;
const START = Date.UTC(2026, 0, 1);
const timeAt = (second: number) => new Date(START + second * 1000).toISOString();

const WORDS = ['alpha', 'beta', 'gamma', 'delta'];
const HOSTS = ['a.example', 'www.a.example', 'b.example', 'a.exampleb', 'c.example'];

/** Several results per second with few different words, hosts and statuses, so that many meet several conditions. */
const records: readonly Result[] = fc
  .sample(
    fc.record({
      words: fc.subarray(WORDS),
      host: fc.constantFrom(...HOSTS),
      response_code: fc.constantFrom(0, 200, 200, 200, 204, 404, 410, 500),
      failed_code: fc.constantFrom('target_unreachable' as const, 'capture_timeout' as const),
      second: fc.nat(60),
      options: fc.constantFrom<Result['options']>({}, {}, { fullPage: true }, { fullPage: true, device: 'iPhone 15' }),
      options_withheld: fc.constantFrom([], ['headers']),
      labels: fc.subarray(['legal', 'Legal', 'Fall 17']),
    }),
    { numRuns: 300, seed: 9 },
  )
  .map(({ words, host, response_code, failed_code, second, ...made }, at) => {
    const failed = response_code === 0;
    const url = `https://${host}/page`;
    return resultOf(FIRST_ID + at, {
      ...made,
      title: words.join(', '),
      url,
      final_url: failed ? '' : url,
      host,
      response_code,
      failed,
      failed_code: failed ? failed_code : '',
      probed_at: timeAt(second),
    });
  });

const anyConditions = fc.record(
  {
    status: fc.constantFrom('0', '200', '404', '2xx', '4xx', '5xx', '3xx'),
    outcome: fc.constantFrom('stored' as const, 'failed' as const, 'timed_out' as const),
    from: fc.integer({ min: -5, max: 65 }).map(timeAt),
    to: fc.integer({ min: -5, max: 65 }).map(timeAt),
    text: fc.subarray(WORDS, { minLength: 1 }).map((words) => words.join(' ')),
    option: fc.constantFrom<ResultConditions['option']>(
      [{ name: 'fullPage' }],
      [{ name: 'headers' }],
      [
        { name: 'device', value: 'iphone 15' },
        { name: 'fullPage', value: 'true' },
      ],
      [{ name: 'device', value: 'iPhone' }],
    ),
    label: fc.subarray(['legal', 'Legal', 'Fall 17', 'Fall'], { minLength: 1 }),
  },
  { requiredKeys: [] },
);

const anyFilter: fc.Arbitrary<ResultFilter> = fc.oneof(
  fc.constant<ResultFilter>({ by: 'all' }),
  fc.constantFrom('a.example', 'a.', 'b', 'nowhere').map((host): ResultFilter => ({ by: 'host', host })),
  fc.constantFrom(...HOSTS, 'nowhere').map((host): ResultFilter => ({ by: 'url', url: `https://${host}/page` })),
);

/** Implements the contract in the simplest way. */
function meets(result: Result, filter: ResultFilter): boolean {
  const {
    status,
    outcome,
    from = '',
    to = '~',
    text = '',
    option = [],
    label = [],
  }: ResultConditions = filter.where ?? {};
  const code = String(result.response_code);
  const { host } = result;
  return (
    (filter.by !== 'url' || result.url === filter.url) &&
    (filter.by !== 'host' || host.startsWith(filter.host) || host.endsWith(`.${filter.host}`)) &&
    (status === undefined ||
      code === status ||
      (status.endsWith('xx') && code.length === 3 && code[0] === status[0])) &&
    (outcome === undefined || outcomeOf(result) === outcome) &&
    result.probed_at >= from &&
    result.probed_at < to &&
    label.every((one) => result.labels.includes(one)) &&
    text.split(' ').every((word) => result.title.includes(word)) &&
    option.every(({ name, value }) =>
      value === undefined
        ? name in result.options || result.options_withheld.includes(name)
        : String(result.options[name]).toLowerCase() === value.toLowerCase(),
    )
  );
}

async function idsOf(store: ResultStore, filter: ResultFilter, limit: number): Promise<number[]> {
  const ids: number[] = [];
  for (let after: Keyset | undefined; ; ) {
    const page = await store.page(filter, limit, after);
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return ids;
    after = { probedAt: last.probed_at, id: last.id };
  }
}

function newestFirst(a: Result, b: Result): number {
  return Date.parse(b.probed_at) - Date.parse(a.probed_at) || b.id - a.id;
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

  const insert = (results: readonly Result[]) => Promise.all(results.map((result) => store.insert(result)));
  const found = async (where: ResultConditions) =>
    (await store.page({ by: 'all', where }, 100)).map(({ id }) => id - FIRST_ID);

  describe('a list with conditions', () => {
    it('returns every result that meets the conditions, newest first, in pages of every size', async () => {
      await insert(records);
      await fc.assert(
        fc.asyncProperty(anyFilter, anyConditions, fc.constantFrom(1, 7, 50, 1000), async (filter, where, limit) => {
          const wanted: ResultFilter = { ...filter, where };
          const expected = records.filter((result) => meets(result, wanted)).toSorted(newestFirst);
          expect(await idsOf(store, wanted, limit)).toEqual(expected.map(({ id }) => id));
        }),
        { numRuns: 150, seed: 4 },
      );
    });

    it('finds the same hosts as a list without conditions', async () => {
      const hosts = [...new Set(BY_HOST_TABLE.flatMap(({ hosts, others }) => [...hosts, ...others]))];
      const deep = 'a.b.c.d.e.f.g.example';
      const all = [...hosts, deep, 'f.g.example', 'x.f.g.example', 'f.g.examples'];
      await insert(all.map((host, at) => resultOf(FIRST_ID + at, { host, title: 'word' })));
      for (const value of [...BY_HOST_TABLE.map(({ value }) => value), 'e.f.g.example', 'b.c.d.e.f.g.example', 'f.g']) {
        const expected = await idsOf(store, { by: 'host', host: value }, 100);
        for (const where of [{ outcome: 'stored' as const }, { text: 'word' }, { from: timeAt(-9e6) }]) {
          expect(await idsOf(store, { by: 'host', host: value, where }, 100), value).toEqual(expected);
        }
      }
    });

    it('finds the results of more hosts than one query names', async () => {
      const hosts = Array.from({ length: 1200 }, (_, at) => `${at % 2 === 0 ? 'customer' : 'customs'}-${at}.example`);
      await insert(
        hosts.map((host, at) => resultOf(FIRST_ID + at, { host, response_code: at % 100 < 2 ? 404 : 200, title: '' })),
      );
      const wanted = hosts.flatMap((host, at) => (host.startsWith('customer-') && at % 100 < 2 ? [FIRST_ID + at] : []));
      for (const limit of [5, 100]) {
        expect(await idsOf(store, { by: 'host', host: 'customer-', where: { status: '404' } }, limit)).toEqual(
          wanted.toReversed(),
        );
      }
      const withTimes = { by: 'host', host: 'customer-', where: { from: timeAt(-9e6) } } as const;
      expect(await idsOf(store, withTimes, 1000)).toHaveLength(600);
    });

    it('omits a deleted result, and returns it once it is stored again under its id', async () => {
      const [first, second] = [resultOf(FIRST_ID, { title: 'word' }), resultOf(FIRST_ID + 1, { title: 'word' })];
      await insert([first, second]);
      await store.delete([FIRST_ID]);
      expect(await found({ text: 'word' })).toEqual([1]);
      await store.insert({ ...first, title: 'another' });
      expect(await found({ text: 'word' })).toEqual([1]);
      expect(await found({ text: 'another' })).toEqual([0]);
    });

    it('finds words of the title and the URLs, whatever their case and accents', async () => {
      await insert([
        resultOf(FIRST_ID, { title: 'Grüße aus ŒUVRE, ﬁne ＷＩＤＥ', url: 'https://shop.example/Über_uns?q=42' }),
        resultOf(FIRST_ID + 1, { title: 'Something else', url: 'https://x.example/', final_url: 'https://y.example/' }),
      ]);
      for (const text of [
        'grüße',
        'grusse',
        'Grüsse',
        'GRUßE',
        'œuvre',
        'fine wide',
        'shop uns',
        '42',
        'uber',
        '“fine”',
        'aus, fine!',
      ]) {
        expect(await found({ text }), text).toEqual([0]);
      }
      expect(await found({ text: 'y' })).toEqual([1]);
      for (const text of ['gru', 'hop', 'fine else', 'https']) expect(await found({ text }), text).toEqual([]);
    });

    it('finds words with characters that nobody sees, and letters that have none of their own elsewhere', async () => {
      await insert([
        resultOf(FIRST_ID, { title: 'Donau\u00addampf\u00adschiff, 12\u00a0€, Cafe\u0301 am \u200eHafen\u200b' }),
        resultOf(FIRST_ID + 1, { title: 'Łódź: Straße, Søren, Đà Nẵng' }),
      ]);
      for (const text of ['Donaudampfschiff', 'donau\u00addampfschiff', 'café hafen', 'cafe\u0301', '12 €']) {
        expect(await found({ text }), text).toEqual([0]);
      }
      for (const text of ['dampf', 'schiff']) expect(await found({ text }), text).toEqual([]);
      for (const text of ['strasse', 'Straße', 'STRASSE', 'STRAẞE', 'lodz', 'soren', 'da nang']) {
        expect(await found({ text }), text).toEqual([1]);
      }
    });

    it('finds parts of a text in a script without spaces', async () => {
      await insert([
        resultOf(FIRST_ID, { title: '日本語のページとABC' }),
        resultOf(FIRST_ID + 1, { title: 'สวัสดีชาวโลก' }),
        resultOf(FIRST_ID + 2, { title: '한국어 페이지' }),
      ]);
      for (const text of ['日本', '本語', '日', 'ページ', 'abc', '日本語 ABC']) {
        expect(await found({ text }), text).toEqual([0]);
      }
      expect(await found({ text: 'ชาวโลก' })).toEqual([1]);
      expect(await found({ text: '한국어' })).toEqual([2]);
      expect(await found({ text: '語日' })).toEqual([]);
    });

    it('treats any text as words', async () => {
      await insert([resultOf(FIRST_ID, { title: 'NOT a OR b NEAR c * ^ " : - + ( ) { } $where \uE000200' })]);
      for (const text of ['NOT a', 'a OR b', '"a" AND c', 'a*', 'col:a', '-a', '$where', 'NEAR(a b)', '{"$gt": "a"}']) {
        await expect(found({ text }), text).resolves.toBeInstanceOf(Array);
      }
      expect(await found({ text: 'a OR b' })).toEqual([0]);
      expect(await found({ text: 'NOT c' })).toEqual([0]);
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), async (text) => {
          await store.page({ by: 'all', where: { text: `a ${text}` } }, 1);
        }),
        { numRuns: 60, seed: 2 },
      );
    });

    it('keeps the order of the ids within one millisecond', async () => {
      const many = Array.from({ length: 300 }, (_, at) => resultOf(FIRST_ID + at, { title: 'tied' }));
      await insert(fc.sample(fc.shuffledSubarray(many, { minLength: many.length }), { numRuns: 1, seed: 1 })[0] ?? []);
      const expected = many.map(({ id }) => id).reverse();
      for (const limit of [1, 100, 299, 300]) {
        expect(await idsOf(store, { by: 'all', where: { text: 'tied' } }, limit)).toEqual(expected);
      }
    });
  });
});
