import type { Money } from '../../../capture/work/money.ts';
import { CURRENCY, currencyOf, hasThreeDecimals } from './currencies.ts';
import { DIGITS, numberOf, POWER, plainDigits, powerOf } from './parse-number.ts';

/** The first characters of a text are searched. */
const MAX_CHARACTERS = 500;

/** Stand beside amounts in Arabic and Hebrew. */
const MARKS_OF_DIRECTION = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;
/** Stand in place of the cents, such as `.–` in `1'299.–`. */
const NO_CENTS = /(?<=\d)[.,][-\u2010-\u2015\u2212]{1,2}(?!\d)/g;
const AMOUNT = new RegExp(
  `(?:(?<before>${CURRENCY})\\s?(?<sign>[-+\\u2212]?)|(?<sign>(?:(?<![\\p{L}\\p{N}\\p{Sc}.,])[-+\\u2212])?)(?<![\\p{L}\\p{N}][.,]?|[億亿억]\\s?))(?<digits>${DIGITS})(?<power>${POWER})?(?=(?<rest>\\s?(?<after>${CURRENCY})(?<cents>\\d{2}(?!\\d))?)|)`,
  'gu',
);
/** Stands between the two ends of a range. */
const TO =
  /^\s*(?:[-\u2012-\u2015~\u301c]|to|and|bis|und|à|et|hasta|a|y|até|e|tot|en|till|til|och|og|do|до|и|から)\s*$/iu;

/** Kinds of amounts, by the words beside them. Later ones in this list count less. */
const RANKS = ['price', 'usual', 'rate', 'other'] as const;
type Rank = (typeof RANKS)[number];

/** Before an amount that is paid several times, such as `12x` or `3 instalments of`. */
const TIMES_BEFORE = endOf(
  String.raw`\d\s*(?:[x×✕]|fois|mal|veces|volte|\p{L}*raten|rates|rater|rat|mensualit\p{L}*|cuotas|parcelas|plazos|payments|(?:[\p{L}-]+ )?payments|instal+ments|termijnen|taksit|meses|delbetalning\p{L}*|platnoś\p{L}*|splát\p{L}*|דמי|תשלומים|دفعات|أقساط|قسط)[^\d\p{Sc}.:,;]{0,25}`,
  'raten(?:zahlung)? (?:ab|von)',
  '(?:no cost )?emi(?:(?: starts?)? (?:at|from))?',
  'ईएमआई',
  '月々',
  '月額',
  String.raw`(?<!\p{L})월`,
);
const TIMES_AFTER = /^\s*[x×✕]\s*\d/iu;
/** Before and after an amount for a time or a measure, such as `/ kg`. */
const RATE_BEFORE = endOf(
  String.raw`\d*\s?(?:kg|g|ml|l|cl|個|枚|本)\s?(?:あたり|当たり|当り|당)`,
  '(?:unit price|price per unit|grundpreis|prix au (?:kilo|litre)|jmf-?pris|precio por (?:kilo|litro)|هر کیلوگرم)',
);
const RATE_AFTER =
  /^\*?\s*(?:mtl\b|monatl|monthly\b|mensuel|mensual|mensil|maandelijks|(?:\/|per\b|pro\b|par\b|je\b|por\b|al\b|a\s|an\s|på\b|w\s|za\b|प्रति\s|ל(?=ק))\s*(?:\d+\s*)?(?:m[eé]s|mo\b|mnd|mois|mon\p{L}*|mese|month\p{L}*|måned|mån\p{L}*|мес\p{L}*|माह|महीन|jahr|year|yr|año|an\b|ann[eé]e|anno|week|woche|tag|day|kg|g\b|l\b|ml|m[²2]?\b|oz|lb|liter|litre|кг|किग्रा|كجم|ק|stück|st\b|unit\p{L}*|pcs|100))/iu;
/** Before an amount that was asked earlier, is saved, or is added. */
const OTHER_BEFORE = endOf(
  String.raw`\b(?:was|instead of|rrp|msrp|m\.?r\.?p\.?|(?:list|original|retail|old) price|originally|compare at(?: price)?|save|you save|saving|from previous|shipping|delivery)`,
  String.raw`statt|uvp|bisher|(?:bisherig\p{L}*|alter|früherer) preis|originalpreis|listenpreis|vorher|zuvor|sie sparen|du sparst|spare|ersparnis|versand(?:kosten)?`,
  'au lieu de|avant|ancien prix|prix (?:conseillé|initial|barré|public|d.origine)|économisez|livraison|frais de port',
  String.raw`antes|ahorra\p{L}*|envío|pvp|precio (?:anterior|original|recomendado|de lista)`,
  String.raw`invece di|prima|prezzo (?:di listino|originale|consigliato|precedente)|risparmi\p{L}*|spedizione`,
  'de r\\$|economize|frete|preço (?:original|anterior|de tabela)',
  'was|van|(?:oude|oorspronkelijke) prijs|bespaar|je bespaart|adviesprijs|verzendkosten',
  String.raw`förut|spar|spara|før|førpris|vejl\. pris|tidigare pris|frakt`,
  'zamiast|oszczędzasz|cena (?:pierwotna|katalogowa)|stara cena|dostawa',
  '(?:původní|doporučená) cena|ušetříte|doprava',
  'вместо|было|скидка|старая цена|экономия|доставка',
  'eski fiyat|kazancınız|kargo',
  '希望小売価格|定価|参考価格|送料|原价|市场价|배송비',
  'السعر السابق|وف[ّ]?ر|الشحن|מחיר קודם|חסכון|משלוח|قیمت قبلی|تخفیف|هزینه ارسال|एम\\.आर\\.पी\\.?|बचत|डिलीवरी शुल्क',
);
/** Before an amount that is an earlier price beside another one, and the price alone. */
const USUAL_BEFORE = endOf(
  '(?:regular|usual|normal|full)(?: price)?',
  'normalpreis|regulärer preis|prix (?:habituel|normal)|precio (?:habitual|normal)|preço normal|prezzo normale|normale prijs',
  String.raw`ord(?:inarie)?\.?(?: pris)?|normalpris|cena regularna|běžná cena|обычная цена|normal fiyat`,
  '通常価格|정가|정상가',
);
/** Before the lowest price of the last 30 days, which shops in the European Union have to tell with a reduced one. */
const LOWEST_BEFORE = endOf(
  String.raw`(?:lowest|bestpreis|niedrigst\p{L}*|tiefst\p{L}*|más bajo|plus bas|menor preço|più basso|laagste|lägsta|laveste|najniższ\p{L}*|nejnižší|минимальн\p{L}*|en düşük|最安値|最低価格|최저가|أقل سعر|הנמוך|सबसे कम|کمترین)[^\p{Sc}\d]{0,30}(?:30)?[^\p{Sc}\d]{0,25}`,
);
const ADDED = /(?:\+|plus|zzgl\.?|více)\s*$/iu;

/** Matches any of these at the end of a text, before a colon. None is the end of a longer word. */
function endOf(...patterns: readonly string[]): RegExp {
  const wordStart = '(?<![\\p{Script=Latin}\\p{Script=Cyrillic}])';
  return new RegExp(`${wordStart}(?:${patterns.join('|')})\\s*:*\\s*$`, 'iu');
}

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
    const { before, after, digits = '', power = '', rest = '', cents } = groups;
    const [isFree, digitsEnd] = [index >= (found.at(-1)?.end ?? 0), index + whole.length];
    const sign = isFree || before === undefined ? (groups.sign ?? '') : '';
    const digitsStart = digitsEnd - power.length - digits.length;
    // The cents of the amount before it.
    if (digitsStart < (found.at(-1)?.end ?? 0)) continue;
    // The letters of a name, such as those of `ABC123`.
    if (before !== undefined && marked(before) === undefined && /^\p{N}/u.test(whole.slice(before.length))) continue;
    if (/^\s?%/.test(text.slice(digitsEnd))) continue;
    const [ofBefore, ofAfter] = [isFree ? marked(before) : undefined, marked(after)];
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

function rankOf(text: string, { start, end, isNegative }: Found, from: number): Rank {
  const [before, after] = [text.slice(Math.max(from, start - 60), start), text.slice(end, end + 20)];
  if (isNegative || ADDED.test(before) || OTHER_BEFORE.test(before) || LOWEST_BEFORE.test(before)) return 'other';
  if (TIMES_BEFORE.test(before) || TIMES_AFTER.test(after)) return 'other';
  if (USUAL_BEFORE.test(before)) return 'usual';
  return RATE_AFTER.test(after) || RATE_BEFORE.test(before) ? 'rate' : 'price';
}

/** Returns the number that is the whole text, as attributes have it. */
function bareNumber(text: string, decimal: string): Money | null {
  const [, digits] = new RegExp(`^(${DIGITS})$`, 'u').exec(text) ?? [];
  const amount = digits === undefined ? null : numberOf(digits, decimal);
  return amount === null ? null : { amount, to: null, currency: null };
}
