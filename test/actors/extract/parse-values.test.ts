import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/reading/outputs/extract/parse-date.ts';
import { decimalOf, parseNumber } from '../../../src/reading/outputs/extract/parse-number.ts';

describe('parseNumber', () => {
  it.each<[text: string, language: string, value: number | null]>([
    ['1.234,50 €', '', 1234.5],
    ['1,234.50', 'de', 1234.5],
    ['$1,234', 'en', 1234],
    ['1,234', 'de', 1.234],
    ['1.234 €', 'de', 1234],
    ['1.234', 'en', 1.234],
    ['0.125', 'de', 0.125],
    ['12,5', 'en', 12.5],
    ['1.234.567', 'en', 1_234_567],
    ['12,34,567.5', 'en-IN', 1_234_567.5],
    ['1 234 567,5', '', 1_234_567.5],
    ['1\u202f234,5', 'fr', 1234.5],
    ["1'234.50", 'de-CH', 1234.5],
    ['１２３', '', 123],
    ['\u221212 °C', '', -12],
    ['-$5.00', '', -5],
    ['10-20', '', 10],
    ['12.5 %', '', 12.5],
    ['1.5e3', '', 1500],
    ['v2 costs 5.', '', 5],
    ['1.2.3', '', null],
    ['none', '', null],
    ['1e400', '', null],
    ['1,5', 'not a language', 1.5],
  ])('reads %j on a page in %j as %j', (text, language, value) => {
    expect(parseNumber(text, decimalOf(language))).toBe(value);
  });
});

describe('parseDate', () => {
  it.each<[text: string, date: string | null]>([
    ['2026-05-04', '2026-05-04'],
    ['2026-05-04T10:00Z', '2026-05-04T10:00:00Z'],
    ['2026-05-04 10:00:00.5+02:00', '2026-05-04T08:00:00Z'],
    ['2026-05-04 10:00', '2026-05-04T10:00:00'],
    ['Mon, 04 May 2026 10:00:00 GMT', '2026-05-04T10:00:00Z'],
    ['Published on Monday, May 4, 2026, 10:30 p.m. by Jane', '2026-05-04T22:30:00'],
    ['May 4th, 2026 at 12:05 AM', '2026-05-04T00:05:00'],
    ['4. Mai 2026 um 18:30 Uhr', '2026-05-04T18:30:00'],
    ['4 de mayo de 2026', '2026-05-04'],
    ['1er août 2026', '2026-08-01'],
    ['04.05.2026', '2026-05-04'],
    ['2026/5/4', '2026-05-04'],
    ['2026年5月4日', '2026-05-04'],
    ['14/05/2026', '2026-05-14'],
    ['05/14/2026', '2026-05-14'],
    ['05/05/2026', '2026-05-05'],
    ['04/05/2026', null],
    ['1777888800', '2026-05-04T10:00:00Z'],
    ['1777888800000', '2026-05-04T10:00:00Z'],
    ['30 February 2026', null],
    ['2026-05-04 25:00', null],
    ['yesterday', null],
  ])('reads %j as %j', (text, date) => {
    expect(parseDate(text)).toBe(date);
  });

  it('looks at the beginning of a text alone', () => {
    expect(parseDate(`${'-'.repeat(1_000_000)} 2026-05-04`)).toBeNull();
  });
});
