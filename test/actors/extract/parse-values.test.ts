import { describe, expect, it } from 'vitest';
import type { Money } from '../../../src/capture/work/money.ts';
import { parseDate } from '../../../src/reading/outputs/extract/parse-date.ts';
import { parseMoney } from '../../../src/reading/outputs/extract/parse-money.ts';
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
    ['٤٧٫٥', 'ar', 47.5],
    ['१,२९,९००', 'hi', 129_900],
  ])('reads %j on a page in %j as %j', (text, language, value) => {
    expect(parseNumber(text, decimalOf(language))).toBe(value);
  });
});

const money = (amount: number, currency: string | null, to: number | null = null): Money => ({ amount, to, currency });

describe('parseMoney', () => {
  it.each<[text: string, language: string, value: Money | null]>([
    ['1.299,00 €', 'de', money(1299, 'EUR')],
    ['1.299 €', '', money(1299, 'EUR')],
    ['€ 1.299,-', 'nl', money(1299, 'EUR')],
    ['₹1,29,900', 'en-IN', money(129_900, 'INR')],
    ['Rs. 1,29,900.00', '', money(129_900, 'INR')],
    ['1 299 kr', 'sv', money(1299, 'SEK')],
    ['1\u00a0299,50 kr', 'nb', money(1299.5, 'NOK')],
    ['1.299,50 kr.', 'da', money(1299.5, 'DKK')],
    ["CHF 1'299.–", 'de-CH', money(1299, 'CHF')],
    ['$12.99 – $15.99', 'en', money(12.99, 'USD', 15.99)],
    ['12,99 – 15,99 €', 'de', money(12.99, 'EUR', 15.99)],
    ['12,99 € bis 15,99 €', 'de', money(12.99, 'EUR', 15.99)],
    ['$59.00', 'en-CA', money(59, 'CAD')],
    ['US$59', 'en-AU', money(59, 'USD')],
    ['$1,299', 'es-MX', money(1299, 'MXN')],
    ['R$ 1.299,90', 'pt-BR', money(1299.9, 'BRL')],
    ['¥12,800', 'ja', money(12_800, 'JPY')],
    ['12,800円', 'ja', money(12_800, 'JPY')],
    ['¥128.00', 'zh-CN', money(128, 'CNY')],
    ['1 299,00 zł', 'pl', money(1299, 'PLN')],
    ['1 299 Kč', 'cs', money(1299, 'CZK')],
    ['₺1.299,90', 'tr', money(1299.9, 'TRY')],
    ['1 299 ₽', 'ru', money(1299, 'RUB')],
    ['KWD 1.250', 'en', money(1.25, 'KWD')],
    ['KD 12', 'en', null],
    ['٤٧٫٥٠ د.إ', 'ar', money(47.5, 'AED')],
    ['１，２９９円', 'ja', money(1299, 'JPY')],
    ['59€99', 'fr', money(59.99, 'EUR')],
    ['59.00 EUR', 'en', money(59, 'EUR')],
    ['EUR 59.00', 'en', money(59, 'EUR')],
    ['59 € 47,50 €', 'de', money(59, 'EUR')],
    ['statt 59 € nur 47,50 €', 'de', money(47.5, 'EUR')],
    ['Was $59.00 Now $47.50', 'en', money(47.5, 'USD')],
    ['RRP: £59.00 £47.50', 'en', money(47.5, 'GBP')],
    ['12x R$ 99,90', 'pt-BR', null],
    ['12x de R$ 99,90 ou R$ 1.099,00 à vista', 'pt-BR', money(1099, 'BRL')],
    ['3 × 20,00 €', 'fr', null],
    ['19,99 € / Monat, einmalig 399 €', 'de', money(399, 'EUR')],
    ['19,99 € / Monat', 'de', money(19.99, 'EUR')],
    ['2,49 € (4,98 € / kg)', 'de', money(2.49, 'EUR')],
    ['4 payments of $12.50', 'en', null],
    ['Save $10.00', 'en', null],
    ['-10 € 49 €', 'de', money(49, 'EUR')],
    ['CHF13.99', 'de-CH', money(13.99, 'CHF')],
    ['EUR1,299.99', 'en', money(1299.99, 'EUR')],
    ['1 299kr', 'sv', money(1299, 'SEK')],
    ['ABC123 59 €', 'de', money(59, 'EUR')],
    ['27% OFF ₹1,480', 'en-IN', money(1480, 'INR')],
    ['₹1,480 27% OFF', 'en-IN', money(1480, 'INR')],
    ['١٬٢٩٩٫٩٩ ج.م.\u200f', 'ar-EG', money(1299.99, 'EGP')],
    ['\u200f45.99 ₪ – \u200f78.99 ₪', 'he', money(45.99, 'ILS', 78.99)],
    ['۱۲٬۵۰۰٬۰۰۰ تومان', 'fa', money(12_500_000, 'IRT')],
    ['Tiefstpreis der letzten 30 Tage: 55,99 € 59,99 €', 'de', money(59.99, 'EUR')],
    ['30-Tage-Bestpreis: 55,99 € 59,99 €', 'de', money(59.99, 'EUR')],
    ['Prix le plus bas des 30 derniers jours : 55,99 € 59,99 €', 'fr', money(59.99, 'EUR')],
    ['Najniższa cena z 30 dni przed obniżką: 55,99 zł 59,99 zł', 'pl', money(59.99, 'PLN')],
    ['Lägsta pris senaste 30 dagarna: 559 kr 599 kr', 'sv', money(599, 'SEK')],
    ['過去30日間の最安値：5,980円 6,480円', 'ja', money(6480, 'JPY')],
    ['oder 12 Raten zu je 5,99 € 59,99 €', 'de', money(59.99, 'EUR')],
    ['Pay in 3 instalments of £20.00 with PayPal £59.99', 'en-GB', money(59.99, 'GBP')],
    ['or 4 interest-free payments of $14.75 with Afterpay $59.00', 'en', money(59, 'USD')],
    ['ईएमआई ₹८,९८० प्रति माह से शुरू ₹३५,९२०', 'hi', money(35_920, 'INR')],
    ['أو ٤ دفعات بقيمة ٣٬٣٦٦٫٩٩ ج.م. ١٣٬٤٦٩٫٩٩ ج.م.', 'ar', money(13_469.99, 'EGP')],
    ['(4,98 €* / 1 kg) 2,49 €*', 'de', money(2.49, 'EUR')],
    ['(100g당 155,740원) 77,870원', 'ko', money(77_870, 'KRW')],
    ['1kgあたり1,980円 990円', 'ja', money(990, 'JPY')],
    ['299 kr/mån eller 3 590 kr', 'sv', money(3590, 'SEK')],
    ['Caravan 59 €', 'de', money(59, 'EUR')],
    ['From $1,299.00*', 'en', money(1299, 'USD')],
    ['59.00', 'en', money(59, null)],
    ['0,00 €', 'de', money(0, 'EUR')],
    ['4.5 stars, 120 reviews', 'en', null],
    ['Price on request', 'en', null],
    ['Out of stock', 'en', null],
    ['', 'en', null],
  ])('reads %j on a page in %j', (text, language, value) => {
    expect(parseMoney(text, decimalOf(language), language)).toEqual(value);
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
