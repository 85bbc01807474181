import { describe, expect, it } from 'vitest';
import { comparable } from '../../src/words/comparable.ts';
import { indexed, meetsWords, passagesOf, wordsIn } from '../../src/words/find-words.ts';
import { folded } from '../../src/words/folded.ts';
import { parseWords, wordsQuery } from '../../src/words/query.ts';
import { tokensOf } from '../../src/words/tokens.ts';

const finds = (words: string, text: string) => meetsWords(wordsIn(text), wordsQuery(words));

describe('a query by words', () => {
  it.each([
    ['ferrari', 'A red Ferrari.'],
    ['cafe munchen', 'München has a Café'],
    ['strasse', 'Straße'],
    ['donaudampfschiff', 'Donau\u00addampf\u00adschiff'],
    ['password', 'pass\u200bword'],
    ['full', 'Ｆｕｌｌ width'],
    ['"red ferrari"', 'a RED\n ferrari'],
    ['“red ferrari”', 'a red ferrari'],
    ['ferr*', 'ferries'],
    ['"the ferr"*', 'all the ferries'],
    ['"the ferr*"', 'all the ferries'],
    ['ferrari -lamborghini', 'a ferrari'],
    ['ferrari -"red ferrari"', 'a blue ferrari and a red car'],
    ['-lamborghini', 'a ferrari'],
    ["don't", 'I don’t know'],
    ['log-in', 'please log in'],
    ['手机', '苹果手机壳'],
    ['机', '苹果手机壳'],
    ['壳', '苹果手机壳'],
    ['苹果手机壳', '我的苹果手机壳很好'],
    ['"iPhone 手机"', '新iPhone 手机壳'],
    ['東京タワー', '昨日、東京タワーに行きました'],
    ['สวัสดี', 'ผมพูดว่าสวัสดีครับ'],
    ['привет', 'Привет, мир'],
    ['한국어', '한국어를 배우다'],
    ['한국', '대한민국, 한국은'],
    ['한국', '한국어'.normalize('NFD')],
    ['バス', 'ﾊﾞｽ停'],
    ['バス', 'ハ\u3099ス停'],
    ['हिन्दी', 'हिन्दी में'],
    ['हिंदी', 'हिन्दी में'],
    ['ज्यादा', 'ज़्यादा'],
    ['سلام', 'ســلام'],
    ['کتاب', 'كِتاب'],
    ['مدرسه', 'مدرسة'],
    ['123', '١٢٣'],
    ['۱۲۳', 'room 123'],
    ['c', 'C++ reference'],
    ['C++', 'C++11'],
    ['"c# reference"', 'a C# reference'],
    ['--index-words', 'serve --index-words'],
    ['info@example.com', 'mail to info@example.com.'],
    ['example.com/docs', 'https://example.com/docs?page=2'],
    ['get_user', 'get_user_name()'],
    ['Mueller', 'Fritz Müller'],
    ['mueller', 'Fritz Mu\u0308ller'],
    ['Müller', 'Fritz Mueller'],
    ['muller', 'Fritz Müller'],
    ['muell*', 'Müllers'],
    ['Müll*', 'Muellers'],
    ['Groesse', 'Größe'],
    ['Größe', 'Groesse'],
    ['Soeren', 'Søren'],
    ['Aarhus', 'Århus'],
    ['email', 'an e-mail'],
    ['e-mail', 'an email'],
    ['e-mail', 'an e mail'],
    ['email', 'Ihre E\u2011Mail-Adresse'],
    ['emailadresse', 'Ihre E-Mail-Adresse'],
    ['e-mail-adresse', 'Ihre Emailadresse'],
    ['emai*', 'e-mails'],
    ['covid19', 'COVID-19'],
    ['كتاب', 'الكتاب'],
    ['كتاب', 'والكتاب'],
    ['الكتاب', 'كتاب'],
    ['الكتاب', 'بالكتاب'],
    ['ferrari -mueller', 'ferrari muller'],
    ['ferrari &', 'ferrari'],
    ['"ferrari', 'ferrari'],
  ])('%j finds %j', (words, text) => {
    expect(parseWords(words)).toBeTypeOf('object');
    expect(finds(words, text)).toBe(true);
  });

  it.each([
    ['ferr', 'ferrari'],
    ['"red ferrari"', 'a ferrari that is red'],
    ['ferrari -red', 'a red ferrari'],
    ['ferrari -"red ferrari"', 'a red ferrari'],
    ['ferrari -lamb*', 'ferrari or lamborghini'],
    ['-ferrari', 'a ferrari'],
    ['手壳', '苹果手机壳'],
    ['国語', '国 語'],
    ['ハス', 'バス停'],
    ['हद', 'हिन्दी'],
    ['काल', 'कल'],
    ['ปี', 'ปา'],
    ['C++', 'vitamin c'],
    ['C#', 'C++'],
    ['serve -index', 'serve --index-words'],
    ['toe', 'to'],
    ['to', 'toe'],
    ['Mueller', 'Muller'],
    ['"fritz mueller"', 'Fritz Müller'],
    ['ferrari -mueller', 'ferrari müller'],
    ['ferrari -e-mail', 'ferrari email'],
    ['email', 'e – mail, e -mail'],
    ['202611', '2026-11-30'],
    ['haus', 'Krankenhaus'],
    ['له', 'الله'],
    ['机手', '苹果手机壳'],
    ['苹果机', '苹果手机 果机'],
  ])('%j does not find %j', (words, text) => {
    expect(finds(words, text)).toBe(false);
  });

  it.each([
    ['', 'letter or digit'],
    ['" "', 'letter or digit'],
    ['-"', 'letter or digit'],
    ['*', 'letter or digit'],
    ['\ud800', 'letter or digit'],
    ['ab*', '3 letters before *'],
    ['x'.repeat(301), 'at most 300 characters'],
    ['a '.repeat(100), 'at most 40 words'],
  ])('%j is refused, with a reason', (words, reason) => {
    expect(parseWords(words)).toContain(reason);
  });
});

describe('the passages of a text', () => {
  const shown = (text: string, words: string) =>
    passagesOf(text, wordsQuery(words)).map(({ start, end, hits }) => ({
      text: text.slice(start, end),
      hits: hits.map((hit) => text.slice(hit.start, hit.end)),
    }));

  it('show each word that was found, at most three times, with the words around it', () => {
    const text = `${'before '.repeat(30)}Ferrari ${'between '.repeat(30)}Boat${' after'.repeat(30)}`;
    const passages = shown(text, 'boat ferrari');
    expect(passages.map(({ hits }) => hits)).toEqual([['Ferrari'], ['Boat']]);
    for (const passage of passages) expect(passage.text.length).toBeLessThan(200);
    expect(passages[0]?.text).toMatch(/^before .* between$/);
    expect(shown('ferrari '.repeat(2000), 'ferrari')).toHaveLength(1);
  });

  it('are those of a phrase, and of a part of a run without spaces', () => {
    expect(shown('One red car, a red  ferrari', '"red ferrari"')).toEqual([
      { text: 'One red car, a red  ferrari', hits: ['red  ferrari'] },
    ]);
    expect(shown('苹果手机壳', '果手机')).toEqual([{ text: '苹果手机壳', hits: ['果手机'] }]);
  });

  it('are also words in another spelling', () => {
    const text = 'Write an E-Mail to Müller';
    expect(shown(text, 'email mueller')).toEqual([{ text, hits: ['E-Mail', 'Müller'] }]);
    expect(shown('Send email', 'e-mail')).toEqual([{ text: 'Send email', hits: ['email'] }]);
  });

  it('are the first ones of a prefix, in each spelling', () => {
    const far = ' '.repeat(200);
    const text = ['Mütze', 'Müsli', 'Müll', 'müde'].join(far);
    expect(shown(text, 'mue*').map(({ hits }) => hits)).toEqual([['Mütze'], ['Müsli'], ['Müll']]);
    expect(shown(['zest', 'zebra', 'zeal', 'zero'].join(far), 'zeb* zea*').map(({ hits }) => hits)).toEqual([
      ['zebra'],
      ['zeal'],
    ]);
  });

  it('divide no character', () => {
    const text = '😀'.repeat(100);
    for (const { start, end } of passagesOf(`${text}ferrari${text}`, wordsQuery('ferrari'))) {
      expect(`${text}ferrari${text}`.slice(start, end).isWellFormed()).toBe(true);
    }
  });
});

describe('hostile texts', () => {
  it.each([
    ['marks of different classes', '\u0315\u0300\u0316'],
    ['letters whose compatible forms are marks', '\uff9e\u0315'],
  ])('have at most 30 %s on a character, which are put in order in quadratic time', (_, marks) => {
    const text = `a${marks.repeat(10_000)}`;
    expect(folded(text).length).toBeLessThanOrEqual(31);
    expect(comparable(`b${text}`).length).toBeLessThanOrEqual(32 + (marks.includes('\uff9e') ? 30 : 0));
    expect(tokensOf(text).map(({ word }) => word)).toEqual(['a']);
  });

  it('have a limited number of words, also of characters that stand for several', () => {
    expect(tokensOf('\ufdfa'.repeat(64 * 1024)).length).toBeLessThan(70_000);
  });

  it('are read once for all words that are looked for', () => {
    let reads = 0;
    const tokens = tokensOf('word '.repeat(1000)).map((token) => ({
      ...token,
      get word() {
        reads += 1;
        return token.word;
      },
    }));
    const text = indexed(tokens);
    const before = reads;
    const absent = Array.from({ length: 20 }, (_, at) => `-absent${at} -miss${at}*`).join(' ');
    expect(meetsWords(text, wordsQuery(absent))).toBe(true);
    expect(meetsWords(text, wordsQuery('"word absent"'))).toBe(false);
    expect(reads).toBe(before);
  });

  it('are read at most a few times for a phrase that is like itself', () => {
    const tokens = tokensOf('one two '.repeat(1000));
    const known = indexed(tokens);
    let reads = 0;
    const same = new Proxy(known.same, {
      get(words, at) {
        if (at !== 'length') reads += 1;
        return Reflect.get(words, at);
      },
    });
    const text = { ...known, same };
    expect(meetsWords(text, wordsQuery(`"${'one two '.repeat(19)}one one"`))).toBe(false);
    expect(meetsWords(text, wordsQuery(`"${'one two '.repeat(19)}one one*"`))).toBe(false);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(3 * tokens.length);
  });

  it.each([
    ['"a a b"', 'a a a b'],
    ['"a b a c"', 'a b a b a c'],
    ['"a b a b c"', 'a b a b a b c'],
    ['"a a kite*"', 'a a a kites'],
  ])('finds %s after a beginning that is like it', (words, text) => {
    expect(finds(words, text)).toBe(true);
    const [passage] = passagesOf(text, wordsQuery(words));
    expect(passage?.hits.map(({ start, end }) => text.slice(start, end).split(' ').length)).toEqual([
      words.split(' ').length,
    ]);
  });
});
