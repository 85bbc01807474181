/** The first characters of a text are searched. */
const MAX_CHARACTERS = 100;
/** A sign, possibly a currency sign after it, and digits with separators between them. */
const NUMBER =
  /(?<![\p{L}\p{N}])([-+\u2212]?)\s?\p{Sc}?\s?(\d(?:[\d.,'\u2019_]|\s(?=\d{3}(?!\d)))*)(?:e([-+]?\d{1,3})(?!\w))?/iu;
/** Digits before the decimals, in groups of which the last one has three. */
const WHOLE = /^\d+$|^\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}$/;

/**
 * Returns the first number of a text; null for none. Of two kinds of separators the last one is that of the decimals. A
 * separator that occurs again, and a space or an apostrophe, groups digits. A single `.` or `,` before exactly three
 * digits groups them when `decimal`, the separator of the page's language, is the other one.
 */
export function parseNumber(text: string, decimal: string): number | null {
  const [, sign = '', written, exponent = '0'] = NUMBER.exec(text.slice(0, MAX_CHARACTERS).normalize('NFKC')) ?? [];
  if (written === undefined) return null;
  const digits = written.replace(/[.,'\u2019_]+$/, '').replaceAll(/[\s'\u2019_]/g, '');
  const [whole, fraction] = splitAt(digits, decimalPlace(digits, decimal));
  const value = Number(`${whole.replaceAll(/\D/g, '')}.${fraction}e${exponent}`);
  if (!Number.isFinite(value) || !WHOLE.test(whole)) return null;
  return /[-\u2212]/.test(sign) && value !== 0 ? -value : value;
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
