import { describe, expect, it } from 'vitest';
import { optionLabels } from '../../../src/capture/options/option-labels.ts';

describe('optionLabels', () => {
  it.each([
    [{ fullPage: true, device: 'iPhone 15' }, [], ['iPhone 15', 'full page']],
    [{ viewport: { width: 390, height: 844 }, darkMode: true }, [], ['390 × 844', 'dark']],
    [{ waitForSelector: '#a', delayMs: 500 }, ['headers'], ['wait for selector', 'delay ms 500', 'headers']],
    [{ timeoutMs: 90_000, evidence: ['tls'] }, [], []],
    [{}, [], []],
  ])('tells people of %j and withheld %j', (options, options_withheld, labels) => {
    expect(optionLabels({ options, options_withheld })).toEqual(labels);
  });
});
