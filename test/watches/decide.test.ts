import { describe, expect, it } from 'vitest';
import { requestSchemas } from '../../src/capture/request.ts';
import { type ReadValues, valuesField, type WrittenWhen, whenField } from '../../src/capture/work/watch-values.ts';
import { decide, isUnknown, knownAfter, knownBy, NO_VALUES } from '../../src/watches/decide.ts';
import { lacksValues, readValues } from '../../src/watches/read-values.ts';
import { sayValues } from '../../src/watches/say-values.ts';

const RULES = valuesField.parse({
  price: { selector: '.price', type: 'money' },
  stock: '.stock',
  jobs: { selector: 'li', type: 'count' },
});

interface Seen {
  readonly price?: number | string | null;
  readonly currency?: string;
  readonly stock?: string | null;
  readonly jobs?: number;
}

/** Values that a run reads. A price that is a text cannot be read. */
function read({ price = 59, currency = 'EUR', stock = 'InStock', jobs = 3 }: Seen): ReadValues {
  const ofPrice =
    typeof price === 'number'
      ? { value: { amount: price, to: null, currency }, text: `${price} ${currency}` }
      : { value: null, text: price };
  return { price: ofPrice, stock: { value: stock, text: stock }, jobs: { value: jobs, text: String(jobs) } };
}

/** Returns which of the runs after the first one are told. */
function told(when: WrittenWhen | undefined, runs: readonly Seen[]): readonly boolean[] {
  const wanted = when === undefined ? undefined : whenField.parse(when);
  let known = knownBy(RULES, NO_VALUES);
  return runs
    .map((seen) => {
      const now = read(seen);
      const isFirst = isUnknown(known);
      const { isNews, held } = decide(RULES, wanted, now, known);
      known = knownAfter(known, now, isFirst ? [] : held, isFirst || isNews);
      return isNews;
    })
    .slice(1);
}

const prices = (...all: (number | string | null)[]): Seen[] => all.map((price) => ({ price }));

describe('a watch with values', () => {
  it('tells of each change of a value, once, when it has no conditions', () => {
    expect(told(undefined, prices(59, 59, 47.5, 47.5, 59))).toEqual([false, true, false, true]);
    expect(told(undefined, [{}, { stock: 'OutOfStock' }, { stock: 'OutOfStock' }])).toEqual([true, false]);
  });

  it('never tells of a value that is missing, cannot be read, or is in another currency, nor when it is back', () => {
    expect(told(undefined, prices(59, null, 59))).toEqual([false, false]);
    expect(told(undefined, prices(59, 'Price on request', 59, 58))).toEqual([false, false, true]);
    expect(told(undefined, [{ price: 59 }, { price: 65, currency: 'USD' }, { price: 59 }])).toEqual([false, false]);
    expect(told({ value: 'price', below: 50 }, prices(59, null, 0, 'Sold out', 0))).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('tells once that a price is below, and again after it has left', () => {
    expect(told({ value: 'price', below: 50 }, prices(59, 49, 48, 51, 49))).toEqual([true, false, false, true]);
    expect(told({ value: 'price', below: 50 }, prices(45, 45, 45))).toEqual([true, false]);
    const firmly = { value: 'price', below: 50, hysteresis: 5 };
    expect(told(firmly, prices(59, 49, 51, 49, 56, 49))).toEqual([true, false, false, false, true]);
  });

  it.each<[string, WrittenWhen, Seen[], boolean[]]>([
    ['above', { value: 'jobs', above: 3 }, [{ jobs: 3 }, { jobs: 4 }, { jobs: 5 }], [true, false]],
    ['became', { value: 'stock', became: 'InStock' }, [{ stock: 'Out' }, { stock: 'InStock' }, {}], [true, false]],
    ['became, from the start', { value: 'stock', became: 'InStock' }, [{}, {}], [false]],
    ['equals', { value: 'stock', equals: 'InStock' }, [{ stock: 'Out' }, {}, {}], [true, false]],
    ['contains', { value: 'stock', contains: 'Sold' }, [{}, { stock: 'Sold out' }], [true]],
    ['changed by a share', { value: 'price', changed: '5%' }, prices(100, 96, 91, 95.6), [false, true, true]],
    ['changed by a number', { value: 'price', changed: 5 }, prices(100, 96, 91), [false, true]],
    [
      'changed since the baseline',
      { value: 'price', changed: '5%', since: 'baseline' },
      prices(100, 96, 94, 93),
      [false, true, false],
    ],
    ['rose', { value: 'jobs', rose: true }, [{ jobs: 3 }, { jobs: 4 }, { jobs: 4 }, { jobs: 2 }], [true, false, false]],
    ['fell by a share', { value: 'price', fell: '10 %' }, prices(100, 91, 80), [false, true]],
    ['missing', { value: 'price', missing: true }, prices(59, null, null, 59, null), [true, false, false, true]],
    [
      'all',
      {
        all: [
          { value: 'price', below: 50 },
          { value: 'stock', equals: 'InStock' },
        ],
      },
      [{ stock: 'Out' }, { price: 49, stock: 'Out' }, { price: 49 }, { price: 48 }],
      [false, true, false],
    ],
    [
      'any',
      {
        any: [
          { value: 'price', below: 50 },
          { value: 'jobs', rose: true },
        ],
      },
      [{}, { price: 49 }, { price: 49, jobs: 4 }, { price: 49, jobs: 4 }],
      [true, true, false],
    ],
  ])('knows the condition %s', (_, when, runs, expected) => {
    expect(told(when, runs)).toEqual(expected);
  });

  it('forgets the values of other rules, and keeps them with other conditions', () => {
    const known = knownAfter(knownBy(RULES, NO_VALUES), read({}), [], true);
    expect(isUnknown(knownBy(RULES, known))).toBe(false);
    expect(isUnknown(knownBy(valuesField.parse({ price: '.other' }), known))).toBe(true);
  });

  it('has a baseline for a value with the name of a member of every object', () => {
    const rules = valuesField.parse({ constructor: '.price', other: '.other' });
    const now = (text: string | null): ReadValues => ({
      constructor: { value: text, text },
      other: { value: 'there', text: 'there' },
    });
    const first = knownAfter(knownBy(rules, NO_VALUES), now(null), [], true);
    const second = knownAfter(first, now('59'), [], false);
    expect(decide(rules, undefined, now('59'), second).isNews).toBe(false);
  });

  it('says in a sentence what became of the values', () => {
    expect(sayValues(read({ price: 47.5 }), read({}))).toBe('price fell from €59.00 to €47.50');
    expect(sayValues(read({ jobs: 5, stock: 'Out' }), read({}))).toBe(
      'stock changed from “InStock” to “Out”; jobs rose from 3 to 5',
    );
    expect(sayValues(read({ price: 'On request' }), read({}))).toBe('price is “On request”, which cannot be read');
    expect(sayValues(read({ price: null }), read({}))).toBe('price is missing');
  });
});

describe('the body of a watch with values', () => {
  const { watch } = requestSchemas({ maxBatch: 1, timeoutMs: 1000, maxTimeoutMs: 1000 });
  const body = { url: 'https://example.com/', every: '1h', values: { price: { selector: '.price', type: 'money' } } };
  const problems = (more: object) =>
    watch.safeParse({ ...body, ...more }).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

  it('compares nothing else by default, and reads the values with its captures', () => {
    const { rules, request } = watch.parse(body);
    expect(Object.values(rules.compare).every((each) => each === false)).toBe(true);
    expect(request.extract).toMatchObject({ price: { selector: '.price', type: 'money', withText: true } });
  });

  it.each<[string, object, string]>([
    ['no such value', { when: { value: 'cost', below: 5 } }, 'when.value: "cost" is none of the values: price'],
    [
      'the type',
      {
        when: {
          all: [
            { value: 'price', below: 5 },
            { value: 'price', contains: 'x' },
          ],
        },
      },
      'when.all.1.contains: requires a value of the type text or attribute: price is money',
    ],
    [
      'the kind of what it is compared with',
      { when: { value: 'price', equals: 'cheap' } },
      'when.equals: must be a number: price is money',
    ],
    ['values', { values: undefined, when: { value: 'price', below: 5 } }, 'when: requires values'],
    [
      'no operator',
      { when: { value: 'price' } },
      'when.value: needs one of below, above, equals, contains, became, changed, rose, fell, missing beside it',
    ],
    [
      'two operators',
      { when: { any: [{ value: 'price', below: 5, above: 3 }] } },
      'when.any.0.above: cannot be combined with below: use all or any',
    ],
    [
      'a share',
      { when: { value: 'price', changed: '5 percent' } },
      'when.changed: must be true, a number such as 5, or a share such as "5%"',
    ],
    [
      'too deep',
      { when: { all: [{ any: [{ all: [{ any: [] }] }] }] } },
      'when: all.0: any.0: all.0: must not be nested in more than 3 levels',
    ],
    [
      'a list',
      { values: { all: { selector: 'p', many: true } } },
      'values.all.many: is not accepted: a value is a single one, such as a count',
    ],
    [
      'a name of extract',
      { extract: { price: 'p' } },
      'values.price: is the name of a rule of extract, too: rename one of them',
    ],
  ])('is refused for %s, at its place', (_, more, problem) => {
    expect(problems(more)).toContain(problem);
  });
});

describe('a page that has none of the values', () => {
  const nothing = { value: null, text: null };
  const empty = { value: null, text: '' };
  const none = { value: 0, text: '0' };
  it.each<[name: string, read: ReadValues, lacks: boolean]>([
    ['has neither a price nor a text', { price: nothing, stock: nothing }, true],
    ['has no price, and counts nothing', { price: nothing, jobs: none }, true],
    ['counts nothing, and has no other values', { jobs: none }, false],
    ['counts nothing, and has an empty price', { price: empty, jobs: none }, false],
    ['has a price that cannot be read', { price: { value: null, text: 'Price on request' }, stock: nothing }, false],
  ])('%s: %j', (_, read, lacks) => {
    expect(lacksValues(read, undefined)).toBe(lacks);
  });

  it('is not known to lack what a cut page or extraction may have missed', async () => {
    const found = { price: { value: null, text: null }, stock: null, jobs: 0 };
    const outputs = (partial: boolean) => [{ name: 'extract', bytes: 1, partial } as const];
    const read = (partial: boolean, isCut: boolean, extract: object = found) =>
      readValues({ id: 1, extract: { ...extract }, partial, outputs: outputs(isCut) }, RULES, Object.create(null));
    expect(await read(false, false)).toEqual({ price: nothing, stock: nothing, jobs: none });
    const isMissing = whenField.parse({ value: 'stock', missing: true });
    const known = knownBy(RULES, NO_VALUES);
    for (const values of [await read(true, false), await read(false, true)]) {
      expect(values).toEqual({});
      expect(lacksValues(values, undefined)).toBe(false);
      expect(decide(RULES, isMissing, values, known).isNews).toBe(false);
      expect(decide(RULES, undefined, values, known).isNews).toBe(false);
      expect(knownAfter(known, values, [], true).previous).toEqual({});
    }
    const price = { value: { amount: 5, to: null, currency: 'EUR' }, text: '5 EUR' };
    expect(await read(false, true, { ...found, price })).toEqual({ price });
  });

  it('is wanted by a condition on missing values', () => {
    const when = whenField.parse({ value: 'price', missing: true });
    expect(lacksValues({ price: nothing }, when)).toBe(false);
    const known = knownBy(RULES, NO_VALUES);
    for (const each of [nothing, empty]) expect(decide(RULES, when, { price: each }, known).isNews).toBe(true);
  });
});
