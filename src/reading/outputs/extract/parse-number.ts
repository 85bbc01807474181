/** The first characters of a text are searched. */
const MAX_CHARACTERS = 100;
/** Digits with separators between them. */
export const DIGITS = "(?:[1-9]\\d{0,2}(?:\\s\\d{3})+(?!\\d)|\\d)[\\d.,'\\u2019_]*";
/** Suffixes of numbers, with their powers of ten. */
const POWERS = (
  [
    ['[kK](?![\\p{L}\\p{N}])|\\s?(?:тыс\\.|tys\\.|Tsd\\.|thousand)', 3],
    ['M(?![\\p{L}\\p{N}])|\\s?(?:[mM]illion\\p{L}*|millones|milhões|milioni|miljoen|Mio\\.?|mln|млн)', 6],
    ['(?:B|bn)(?![\\p{L}\\p{N}])|\\s?(?:billion|Mrd\\.?|Milliarde\\p{L}*|milliards?|mld|млрд)', 9],
    ['[万만]', 4],
    ['\\s?(?:lakhs?|लाख)', 5],
    ['\\s?(?:crores?|Cr|करोड़)(?!\\p{L})', 7],
  ] as const
).map(([pattern, power]) => {
  // As the texts are.
  const source = pattern.normalize('NFKC');
  return { source, whole: new RegExp(`^(?:${source})$`, 'u'), power };
});
export const POWER = POWERS.map(({ source }) => source).join('|');
/** Metres and bytes, unless decimals are before it. */
const UNIT = '(?<!\\d[.,]\\d{1,2})[MB](?!\\p{L})';
/** A sign, possibly a currency sign after it, and digits. */
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}])([-+\\u2212]?)\\s?\\p{Sc}?\\s?(${DIGITS})(?:[eE]([-+]?\\d{1,3})(?!\\w)|(?!${UNIT})(${POWER}))?`,
  'u',
);
/** The zeros of scripts with digits of their own. */
const ZEROS = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0,
];
/** Digits before the decimals, in groups of which the last one has three. */
const WHOLE = /^\d+$|^\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}$/;

/**
 * Returns the first number of a text; null for none. Of two kinds of separators the last one is that of the decimals. A
 * separator that occurs again, and a space or an apostrophe, groups digits. A single `.` or `,` before exactly three
 * digits groups them when `decimal`, the separator of the page's language, is the other one.
 */
export function parseNumber(text: string, decimal: string): number | null {
  const [, sign = '', written, exponent, power] = NUMBER.exec(plainDigits(text.slice(0, MAX_CHARACTERS))) ?? [];
  const value = written === undefined ? null : numberOf(written, decimal, exponent ?? powerOf(power));
  return value !== null && value !== 0 && /[-\u2212]/.test(sign) ? -value : value;
}

/** Returns the power of ten that a mark after digits stands for. */
export function powerOf(mark = ''): string {
  return String(POWERS.find(({ whole }) => whole.test(mark))?.power ?? 0);
}

/** Returns the value of digits with separators; null when the separators do not make a number. */
export function numberOf(written: string, decimal: string, exponent = '0'): number | null {
  const digits = written.replace(/[.,'\u2019_]+$/, '').replaceAll(/[\s'\u2019_]/g, '');
  const [whole, fraction] = splitAt(digits, decimalPlace(digits, decimal));
  const value = Number(`${whole.replaceAll(/\D/g, '')}.${fraction}e${exponent}`);
  return Number.isFinite(value) && WHOLE.test(whole) ? value : null;
}

/** Returns a text in compatible forms, with the digits of ASCII and its separators between them. */
export function plainDigits(text: string): string {
  const arabic = text.normalize('NFKC').replaceAll('\u066b', '.').replaceAll('\u066c', '');
  return arabic.replaceAll(/[^\P{Nd}\d]/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const zero = ZEROS.find((each) => code >= each && code < each + 10);
    return zero === undefined ? digit : String(code - zero);
  });
}

/** Returns the separator of the page's language; that of English when the language is unknown. */
export function decimalOf(language: string): string {
  try {
    const parts = new Intl.NumberFormat(language === '' ? 'en' : language, { numberingSystem: 'latn' }).formatToParts(
      1.5,
    );
    return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  } catch {
    return '.';
  }
}

/** Returns where the separator of the decimals is; the length of the text when there are none. */
function decimalPlace(digits: string, decimal: string): number {
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (last === -1) return digits.length;
  const separator = digits.charAt(last);
  const other = separator === '.' ? ',' : '.';
  if (digits.includes(other)) return digits.indexOf(separator) === last ? last : digits.length;
  if (digits.indexOf(separator) !== last) return digits.length;
  const mayGroup = /^[1-9]\d{0,2}$/.test(digits.slice(0, last)) && digits.length - last === 4;
  return mayGroup && separator !== decimal ? digits.length : last;
}

function splitAt(digits: string, place: number): readonly [string, string] {
  return [digits.slice(0, place), digits.slice(place + 1)];
}
