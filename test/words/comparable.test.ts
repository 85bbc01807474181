import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparable, drawn, hasWords, placed } from '../../src/words/comparable.ts';

const LOOKS_THE_SAME: readonly (readonly [what: string, one: string, other: string])[] = [
  ['a soft hyphen', 'information', 'infor\u00admation'],
  ['a no-break space', '10 €', '10\u00a0€'],
  ['a narrow no-break space', '1 234', '1\u202f234'],
  ['a zero-width space', 'path/to', 'path/\u200bto'],
  ['a word joiner', '10 km', '10\u2060 km'],
  ['a byte order mark', 'Harbour', '\ufeffHarbour'],
  ['a joiner between Latin letters', 'Auflage', 'Auf\u200clage'],
  ['decomposed letters', 'Café Å', 'Cafe\u0301 A\u030a'],
  ['a letter of another code point', '\u00c5', '\u212b'],
  ['conjoining letters', '한국', '\u1112\u1161\u11ab\u1100\u116e\u11a8'],
  ['marks of direction', '10 €', '\u200e10\u200f €\u061c'],
  ['isolates and embeddings', 'Haifa', '\u2068Haifa\u2069'],
  ['a no-break hyphen', 'e-mail', 'e\u2011mail'],
  ['white space of several kinds', 'a b c', ' a\t\nb\u2003 c\u3000'],
  ['a mark between a letter and its accent', 'é', 'e\u034f\u0301'],
];

const LOOKS_DIFFERENT: readonly (readonly [what: string, one: string, other: string])[] = [
  ['case', 'Harbour', 'harbour'],
  ['an accent', 'Cafe', 'Café'],
  ['a hyphen', 'infor-mation', 'information'],
  ['a dash', 'a-b', 'a–b'],
  ['a quotation mark', "it's", 'it’s'],
  ['a superscript', 'm2', 'm²'],
  ['a full-width letter', 'A', 'Ａ'],
  ['a joined emoji', '👩\u200d🚀', '👩🚀'],
  ['a flag of a region', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', '🏴'],
  ['a keycap', '1\ufe0f\u20e3', '1\u20e3'],
  ['a joiner of a cursive script', 'می\u200cخواهم', 'میخواهم'],
  ['an override of the direction', '\u202egpj.exe', 'gpj.exe'],
];

/** Texts of characters that belong together or are not drawn, in any order. */
const anyText = fc
  .array(
    fc.constantFrom(
      'a',
      'e',
      '\u0301',
      ' ',
      '\u00a0',
      '\n',
      '\u00ad',
      '\u200b',
      '\u200d',
      '👩',
      '🚀',
      '\ufe0f',
      '한',
      'é',
      '-',
    ),
  )
  .map((characters) => characters.join(''));

describe('comparable', () => {
  it.each(LOOKS_THE_SAME)('makes texts equal that differ by %s', (_, one, other) => {
    expect(comparable(other)).toBe(comparable(one));
  });

  it.each(LOOKS_DIFFERENT)('keeps texts apart that differ by %s', (_, one, other) => {
    expect(comparable(other)).not.toBe(comparable(one));
  });

  it('changes nothing more when it is applied again', () => {
    fc.assert(
      fc.property(anyText, (text) => comparable(comparable(text)) === comparable(text)),
      { seed: 1 },
    );
  });
});

describe('placed', () => {
  it('has the comparable text, and where its characters were', () => {
    const text = 'Caf\u00ade\u0301  12\u00a0€';
    const { words, places } = placed(text);
    expect(words).toBe('Café 12 €');
    expect(places).toEqual([0, 1, 2, 4, 6, 8, 9, 10, 11]);
  });

  it('has a place for each character of any text, in ascending order', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { words, places } = placed(text);
        expect(places).toHaveLength(words.length);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }),
      { seed: 2 },
    );
  });
});

describe('drawn', () => {
  it('takes out what is not drawn, and leaves spaces and letters as they are', () => {
    expect(drawn('infor\u00admation, 12\u00a0€, e\u0301')).toBe('information, 12\u00a0€, e\u0301');
  });
});

describe('hasWords', () => {
  it.each(['', ' \u00a0\n', '\u200b\ufeff\u00ad'])('is false for %j, of which nothing is drawn', (text) => {
    expect(hasWords(text)).toBe(false);
  });

  it('is true for a single character', () => {
    expect(hasWords(' \u200b.')).toBe(true);
  });
});
