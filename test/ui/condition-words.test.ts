import { describe, expect, it } from 'vitest';
import { tellsOf } from '../../ui/views/watches/condition-words.ts';

describe('what a watch tells, in words', () => {
  const values = { price: {}, stock: {} };
  const below = { value: 'price', below: 50, hysteresis: 0, since: 'previous' };

  it.each([
    ['price or stock changes', { values, when: null, compare: { visual: false } }],
    [
      'price falls below 50, or the screenshot or the text changes',
      { values, when: below, compare: { visual: {}, text: true } },
    ],
    [
      'price falls below 50 and (price falls by 5% since it was last told or stock is missing)',
      {
        values,
        when: {
          all: [
            below,
            {
              any: [
                { value: 'price', fell: '5%', since: 'baseline' },
                { value: 'stock', missing: true },
              ],
            },
          ],
        },
        compare: {},
      },
    ],
    ['an element changes', { values: null, when: null, compare: { elements: ['.news'] } }],
  ])('says that %s', (words, watch) => {
    expect(tellsOf(watch)).toBe(words);
  });
});
