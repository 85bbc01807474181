import type { Money } from '../../../capture/work/money.ts';
import { CURRENCY, currencyOf, hasThreeDecimals } from './currencies.ts';
import { DIGITS, numberOf, POWER, plainDigits, powerOf } from './parse-number.ts';
import { BETWEEN_BEFORE, FROM_BEFORE, NAMING_BEFORE, RANKS, rankOf } from './price-words.ts';

/** The first characters of a text are searched. */
const MAX_CHARACTERS = 500;

/** Stand beside amounts in Arabic and Hebrew. */
const MARKS_OF_DIRECTION = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;
/** Stand in place of the cents, such as `.–` in `1'299.–`. */
const NO_CENTS = /(?<=\d)[.,][-\u2010-\u2015\u2212]{1,2}(?!\d)/g;
const AMOUNT = new RegExp(
  `(?:(?<before>${CURRENCY})\\s?(?<sign>[-+\\u2212]?)|(?<sign>(?:(?<![\\p{L}\\p{N}\\p{Sc}.,:])[-+\\u2212])?)(?<![\\p{L}\\p{N}][.,]?|[億亿억]\\s?))(?<digits>${DIGITS})(?<power>${POWER})?(?=(?<rest>\\s?(?<after>${CURRENCY})(?<cents>\\d{2}(?![.,]?\\d))?)|)`,
  'gu',
);
/** Stand between the two ends of a range, the second one only after words such as `between`. */
const TO = /^\s*(?:[-\u2012-\u2015~\u301c]|to|bis|à|hasta|a|até|tot|till|til|do|до|から)\s*$/iu;
const AND = /^\s*(?:and|und|et|y|e|en|och|og|и)\s*$/iu;
/** Maximum of the second amount of a range for each of a first one that has neither a currency nor decimals. */
const MAX_RATIO = 10;
/** Number of characters before an amount in which one word is looked for. */
const WORD_CHARACTERS = 20;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
  readonly currency: string | null;
  /** Whether the sign of the currency is before the amount. */
  readonly isMarkedBefore: boolean;
  /** Number of its decimals. */
  readonly decimals: number;
  readonly isNegative: boolean;
}

/**
 * Returns the price that a text states; null for none. Prices have a currency's sign or code beside them, unless the
 * text is nothing but a number. Amounts of instalments, of earlier prices and of savings are not the price; a price for
 * a month or a kilogram is one only when there is no other.
 */
export function parseMoney(given: string, decimal: string, language: string): Money | null {
  const written = given.slice(0, MAX_CHARACTERS).replaceAll(MARKS_OF_DIRECTION, '');
  const text = plainDigits(written).replaceAll(/\s+/g, ' ').replaceAll(NO_CENTS, '').trim();
  const amounts = amountsIn(text, decimal, language);
  if (amounts.length === 0) return bareNumber(text, decimal);
  const ranked = amounts.map((found, at) => ({ found, rank: rankOf(text, found, amounts[at - 1]?.end ?? 0) }));
  for (const wanted of RANKS.slice(0, -1)) {
    const at = ranked.findIndex(({ rank }) => rank === wanted);
    const price = ranked[at]?.found;
    if (price !== undefined) return withRange(text, price, ranked[at + 1]?.found);
  }
  return null;
}

function withRange(text: string, price: Found, next: Found | undefined): Money {
  const { amount, currency } = price;
  if (next === undefined || !isRange(text, price, next)) return { amount, to: null, currency };
  return { amount, to: next.amount, currency: currency ?? next.currency };
}

function amountsIn(text: string, decimal: string, language: string): readonly Found[] {
  const matches = [...text.matchAll(AMOUNT)];
  const marked = (mark: string | undefined) => (mark === undefined ? undefined : currencyOf(mark, language));
  const ofNext = areOfNext(text, matches);
  const sides = matches.map(({ groups }, at) => ({
    before: marked(groups?.before),
    after: ofNext[at] === true ? undefined : marked(groups?.after),
  }));
  // A sign between two amounts belongs to the side on which the first amount has its own.
  const isBefore = sides.find(({ before, after }) => before ?? after)?.before !== undefined;
  const found: Found[] = [];
  for (const [at, { groups = {}, index, 0: whole }] of matches.entries()) {
    const { before, digits = '', power = '', rest = '', cents } = groups;
    const [isFree, digitsEnd] = [index >= (found.at(-1)?.end ?? 0), index + whole.length];
    const sign = isFree || before === undefined ? (groups.sign ?? '') : '';
    const digitsStart = digitsEnd - power.length - digits.length;
    // The cents of the amount before it.
    if (digitsStart < (found.at(-1)?.end ?? 0)) continue;
    // The letters of a name, such as those of `ABC123`.
    if (before !== undefined && sides[at]?.before === undefined && /^\p{N}/u.test(whole.slice(before.length))) continue;
    if (/^\s?[%\u066a]/.test(text.slice(digitsEnd))) continue;
    const [ofBefore, ofAfter] = [isFree ? sides[at]?.before : undefined, sides[at]?.after];
    const hasAfter = ofAfter !== undefined && (!isBefore || ofBefore === undefined);
    const currency = hasAfter ? ofAfter : (ofBefore ?? null);
    const isDivided = hasAfter && cents !== undefined;
    const amount =
      power === ''
        ? amountOf(isDivided ? `${digits}.${cents}` : digits, isDivided ? '.' : decimal, currency)
        : numberOf(digits, decimal, powerOf(power));
    if (amount === null) continue;
    const start = ofBefore === undefined ? digitsStart - sign.length : index;
    const end = digitsEnd + (hasAfter ? rest.length : 0);
    const decimals = isDivided ? 2 : decimalsOf(digits);
    const isMarkedBefore = currency !== null && !hasAfter;
    found.push({ start, end, amount, currency, isMarkedBefore, decimals, isNegative: /[-\u2212]/.test(sign) });
  }
  return found.filter(({ currency }, at) => currency !== null || isEndOfRange(text, found, at));
}

/** Returns for each amount whether the sign after it belongs to the next one, as in `Size 38 $59.99`. */
function areOfNext(text: string, matches: readonly RegExpExecArray[]): readonly boolean[] {
  const ofNext: boolean[] = [];
  for (const [at, match] of [...matches.entries()].toReversed()) {
    const { digits = '', rest = '', after = '', cents } = match.groups ?? {};
    const end = match.index + match[0].length;
    const sign = end + rest.length - (cents?.length ?? 0) - after.length;
    const next = matches[at + 1];
    const hasOwn = next?.groups?.after !== undefined && ofNext[at + 1] !== true;
    ofNext[at] = false;
    if (next?.groups?.before === undefined || next.index !== sign || hasOwn) continue;
    const [isApart, isNextApart] = [sign > end, text[sign + after.length] === ' '];
    const more = decimalsOf(next.groups.digits) - decimalsOf(digits);
    if (isApart && !isNextApart) ofNext[at] = more >= 0;
    else if (isApart === isNextApart && cents === undefined) {
      ofNext[at] = more > 0 || NAMING_BEFORE.test(wordsBefore(text, match.index));
    }
  }
  return ofNext;
}

function wordsBefore(text: string, at: number): string {
  return text.slice(Math.max(0, at - WORD_CHARACTERS), at);
}

function decimalsOf(digits = ''): number {
  return /[.,](\d{1,2})$/.exec(digits)?.[1]?.length ?? 0;
}

/** Whether an amount without a currency is the beginning or the end of a range that has one. */
function isEndOfRange(text: string, found: readonly Found[], at: number): boolean {
  const [before, it, after] = [found[at - 1], found[at], found[at + 1]];
  if (it === undefined) return false;
  return (before !== undefined && isRange(text, before, it)) || (after !== undefined && isRange(text, it, after));
}

/**
 * Whether two amounts are a range. One of them may have no currency, unless it may as well be a number beside a price,
 * as in `iPhone 15 - $799` and `$59 - 120 reviews`.
 */
function isRange(text: string, one: Found, other: Found): boolean {
  if (other.amount <= one.amount) return false;
  const [before, between] = [wordsBefore(text, one.start), text.slice(one.end, other.start)];
  const isBetween = BETWEEN_BEFORE.test(before);
  if (!TO.test(between) && !(AND.test(between) && isBetween)) return false;
  if (one.currency === other.currency) return one.currency !== null;
  if (one.currency !== null && other.currency !== null) return false;
  if (isBetween || FROM_BEFORE.test(before)) return true;
  if (one.decimals !== other.decimals) return false;
  if (other.currency === null)
    return one.isMarkedBefore && (one.decimals > 0 || !/^ ?\p{L}/u.test(text.slice(other.end)));
  const isNamed = NAMING_BEFORE.test(before) || (one.decimals === 0 && other.amount > MAX_RATIO * one.amount);
  return !other.isMarkedBefore && !isNamed;
}

/** Three digits after a single separator are a group, as prices have them, unless the language says otherwise. */
function amountOf(digits: string, decimal: string, currency: string | null): number | null {
  const isGroup = /^\d{1,3}[.,]\d{3}$/.test(digits) && !hasThreeDecimals(currency);
  return numberOf(isGroup && !digits.startsWith('0') ? digits.replace(/[.,]/, '') : digits, decimal);
}

/** Returns the number that is the whole text, as attributes have it. */
function bareNumber(text: string, decimal: string): Money | null {
  const [, digits] = new RegExp(`^(${DIGITS})$`, 'u').exec(text) ?? [];
  const amount = digits === undefined ? null : numberOf(digits, decimal);
  return amount === null ? null : { amount, to: null, currency: null };
}
