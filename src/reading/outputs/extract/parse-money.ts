import { CURRENCY, currencyOf, hasThreeDecimals } from './currencies.ts';
import { DIGITS, numberOf, plainDigits } from './parse-number.ts';

/** A sum of money. `to`: the upper end of a range; `currency`: its ISO 4217 code, null when the text names none. */
export interface Money {
  readonly amount: number;
  readonly to: number | null;
  readonly currency: string | null;
}

/** The first characters of a text are searched. */
const MAX_CHARACTERS = 500;

const AMOUNT = new RegExp(
  `(?<before>${CURRENCY})?\\s?(?<sign>[-+\\u2212]?)(?<![\\p{L}\\p{N}][.,]?)(?<digits>${DIGITS})(?=(?<rest>\\s?(?<after>${CURRENCY})(?<cents>\\d{2}(?!\\d))?)|)`,
  'gu',
);
/** Stands between the two ends of a range. */
const TO = /^\s*(?:[-\u2012-\u2015~\u301c]|to|bis|à|hasta|até|tot|till|til|do|до|から)\s*$/iu;

/** What an amount is, by the words beside it: those that come later in this list count less. */
const RANKS = ['price', 'rate', 'other'] as const;
type Rank = (typeof RANKS)[number];

/** Before an amount that is paid several times, such as `12x`. */
const TIMES_BEFORE =
  /\d\s*(?:[x×✕]|fois|mal|veces|volte|raten|rates|rater|mensualit\p{L}*|cuotas|parcelas|plazos|payments|instal+ments)\s*(?:of|à|a|de|di|da|av|von|zu|je)?\s*$/iu;
const TIMES_AFTER = /^\s*[x×✕]\s*\d/iu;
/** After an amount for a time or a measure, such as `/ kg`. */
const RATE_AFTER =
  /^\s*(?:\/|per\b|pro\b|par\b|je\b|por\b|al\b|a\s|an\s|på\b|w\s|za\b)\s*(?:\d+\s*)?(?:m[eé]s|mo\b|mnd|mois|mon\p{L}*|mese|month\p{L}*|måned|månad|jahr|year|yr|año|an\b|ann[eé]e|anno|week|woche|tag|day|kg|g\b|l\b|ml|m[²2]?\b|oz|lb|liter|litre|stück|st\b|unit\p{L}*|pcs|100)/iu;
/** Before an amount that was asked earlier, is saved, or is added. */
const OTHER_BEFORE =
  /(?:\b(?:was|instead of|rrp|msrp|list price|regular(?: price)?|save|you save|saving|from previous|shipping|delivery)|statt|uvp|bisher|vorher|zuvor|sie sparen|spare|ersparnis|versand|au lieu de|avant|économisez|livraison|antes|ahorra\p{L}*|envío|pvp|precio anterior|invece di|prima|risparmi\p{L}*|spedizione|de r\$|economize|frete|was|van|bespaar|ord(?:inarie)?\.?(?: pris)?|förut|spar|før|tidigare pris|zamiast|oszczędzasz|вместо|было|скидка|通常価格|定価|参考価格|送料|原价)\s*:?\s*$/iu;
const ADDED = /(?:\+|plus|zzgl\.?|více)\s*$/iu;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
  readonly currency: string | null;
  readonly isNegative: boolean;
}

/**
 * Returns the price that a text states; null for none. Prices have a currency's sign or code beside them, unless the
 * text is nothing but a number. Amounts of instalments, of earlier prices and of savings are not the price; a price for
 * a month or a kilogram is one only when there is no other.
 */
export function parseMoney(given: string, decimal: string, language: string): Money | null {
  const text = plainDigits(given.slice(0, MAX_CHARACTERS)).replaceAll(/\s+/g, ' ').trim();
  const amounts = amountsIn(text, decimal, language);
  if (amounts.length === 0) return bareNumber(text, decimal);
  const ranked = amounts.map((found) => ({ found, rank: rankOf(text, found) }));
  for (const wanted of ['price', 'rate'] satisfies readonly Rank[]) {
    const at = ranked.findIndex(({ rank }) => rank === wanted);
    const price = ranked[at]?.found;
    if (price !== undefined) return withRange(text, price, ranked[at + 1]?.found);
  }
  return null;
}

function withRange(text: string, { amount, currency, end }: Found, next: Found | undefined): Money {
  const isRange = next !== undefined && next.amount > amount && TO.test(text.slice(end, next.start));
  return { amount, to: isRange ? next.amount : null, currency: currency ?? (isRange ? next.currency : null) };
}

function amountsIn(text: string, decimal: string, language: string): readonly Found[] {
  const matches = [...text.matchAll(AMOUNT)];
  const marked = (mark: string | undefined) => (mark === undefined ? undefined : currencyOf(mark, language));
  // A sign between two amounts belongs to the side on which the first amount has its own.
  const first = matches.map(({ groups }) => groups).find((groups) => groups?.before ?? groups?.after);
  const isBefore = marked(first?.before) !== undefined;
  const found: Found[] = [];
  for (const { groups = {}, index, 0: whole } of matches) {
    const { before, after, sign = '', digits = '', rest = '', cents } = groups;
    const [isFree, digitsEnd] = [index >= (found.at(-1)?.end ?? 0), index + whole.length];
    // The cents of the amount before it.
    if (digitsEnd - digits.length < (found.at(-1)?.end ?? 0)) continue;
    const [ofBefore, ofAfter] = [isFree ? marked(before) : undefined, marked(after)];
    const hasAfter = ofAfter !== undefined && (!isBefore || ofBefore === undefined);
    const currency = hasAfter ? ofAfter : (ofBefore ?? null);
    const isDivided = hasAfter && cents !== undefined;
    const amount = amountOf(isDivided ? `${digits}.${cents}` : digits, isDivided ? '.' : decimal, currency);
    if (amount === null) continue;
    const start = ofBefore === undefined ? digitsEnd - digits.length - sign.length : index;
    const end = digitsEnd + (hasAfter ? rest.length : 0);
    found.push({ start, end, amount, currency, isNegative: /[-\u2212]/.test(sign) });
  }
  return found.filter(({ currency }, at) => currency !== null || isEndOfRange(text, found, at));
}

/** Whether an amount without a currency is the beginning or the end of a range that has one. */
function isEndOfRange(text: string, found: readonly Found[], at: number): boolean {
  const [before, it, after] = [found[at - 1], found[at], found[at + 1]];
  if (it === undefined) return false;
  const isEnd = before !== undefined && before.currency !== null && TO.test(text.slice(before.end, it.start));
  return isEnd || (after !== undefined && after.currency !== null && TO.test(text.slice(it.end, after.start)));
}

/** Three digits after a single separator are a group, as prices have them, unless the language says otherwise. */
function amountOf(digits: string, decimal: string, currency: string | null): number | null {
  const isGroup = /^\d{1,3}[.,]\d{3}$/.test(digits) && !hasThreeDecimals(currency);
  return numberOf(isGroup && !digits.startsWith('0') ? digits.replace(/[.,]/, '') : digits, decimal);
}

function rankOf(text: string, { start, end, isNegative }: Found): Rank {
  const [before, after] = [text.slice(Math.max(0, start - 40), start), text.slice(end, end + 20)];
  if (isNegative || ADDED.test(before) || OTHER_BEFORE.test(before)) return 'other';
  if (TIMES_BEFORE.test(before) || TIMES_AFTER.test(after)) return 'other';
  return RATE_AFTER.test(after) ? 'rate' : 'price';
}

/** Returns the number that is the whole text, as attributes have it. */
function bareNumber(text: string, decimal: string): Money | null {
  const [, digits] = new RegExp(`^(${DIGITS})$`, 'u').exec(text) ?? [];
  const amount = digits === undefined ? null : numberOf(digits, decimal);
  return amount === null ? null : { amount, to: null, currency: null };
}
