import { describe, expect, it } from 'vitest';
import { folded, foldedPattern, unaccented } from '../../src/words/folded.ts';

const FOUND: readonly (readonly [wanted: string, written: string])[] = [
  ['Alle akzeptieren', 'Alle ak\u00adzep\u00adtieren'],
  ['alle  AKZEPTIEREN', '\n Alle\u00a0akzeptieren '],
  ['12 €', '12\u202f€'],
  ['Café', 'CAFE\u0301'],
  ['strasse', 'Straße'],
  ['STRASSE', 'STRAẞE'],
  ['Straße', 'Strasse'],
  ["Don't track", 'Don’t track'],
  ['Log-in', 'Log\u2011in'],
  ['Ｆｕｌｌ', 'Full'],
  ['full', 'Ｆｕｌｌ'],
  ['iptal', 'İPTAL'],
  ['ΟΔΟΣ', 'οδος'],
  ['Zur Kasse', '\u200eZur\u200b Kasse\ufeff'],
  ['Zur Kasse', 'Zur Kas\u00adse'],
  ['Kasse', 'Ｋａｓｓｅ'],
  ['Confirm the office', 'Con\ufb01rm the o\ufb03ce'],
  ['o\ufb03ce', 'of\u00adf\u200bice'],
  ['Load more...', 'Load more\u2026'],
  ['میخواهم', 'می\u200cخواهم'],
  ['100% (a+b)', '100% (a+b)'],
];

describe('folded', () => {
  it.each(FOUND)('finds %j in %j', (wanted, written) => {
    expect(folded(written)).toBe(folded(wanted));
  });

  it('unites ligatures and their letters', () => {
    expect(folded('ﬁnd')).toBe('find');
  });

  it.each([
    ['Cafe', 'Café'],
    ['Log in', 'Login'],
    ['12 €', '12.€'],
  ])('does not find %j in %j', (wanted, written) => {
    expect(folded(written)).not.toBe(folded(wanted));
    expect(foldedPattern(wanted).test(written)).toBe(false);
  });
});

describe('foldedPattern', () => {
  it.each(FOUND)('for %j matches %j', (wanted, written) => {
    expect(foldedPattern(wanted).test(written)).toBe(true);
  });

  it('matches whole texts alone', () => {
    expect(foldedPattern('akzeptieren').test('Alle akzeptieren')).toBe(false);
  });
});

describe('unaccented', () => {
  it.each([
    ['Łódź', 'lodz'],
    ['Søren Ærø', 'soren aero'],
    ['Đà Nẵng', 'da nang'],
    ['Straße', 'strasse'],
    ['Þingvellir', 'thingvellir'],
  ])('writes %j as %j', (text, plain) => {
    expect(unaccented(text)).toBe(plain);
  });
});
