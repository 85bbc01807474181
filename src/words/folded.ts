import { comparable, withFewMarks } from './comparable.ts';

/* How words are found: as people write them, whatever their case, spelling and typography. */

/** Marks with the other forms of each. */
const MARKS: Readonly<Record<string, string>> = {
  "'": '\u2018\u2019\u201b\u02bc\u00b4',
  '"': '\u201c\u201d\u201e\u201f\u00ab\u00bb',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
};
const FORMS = Object.entries(MARKS).map(([mark, forms]) => [mark, new RegExp(`[${forms}]`, 'g')] as const);
/** Letters that consist of a letter and a stroke, or of two letters, which Unicode does not take apart. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  þ: 'th',
  ŧ: 't',
};
/** Difference between the full-width form of a character of ASCII and that character. */
const FULL_WIDTH = 0xfee0;

/**
 * Returns a text as it is searched: as it is compared, without regard to case, to compatible forms (full-width letters,
 * ligatures), and to the forms of quotation marks and dashes. `ß` is `ss`.
 */
export function folded(text: string): string {
  let plain = withFewMarks(text.replaceAll(/\p{DI}/gu, '')).normalize('NFKC');
  for (const [mark, forms] of FORMS) plain = plain.replace(forms, mark);
  // By way of capitals, which unites the letters that share one. The dot of a Turkish İ stays alone then.
  const lower = plain.toLowerCase().toUpperCase().toLowerCase();
  return comparable(lower.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ'));
}

/** Returns a text as `folded` does, without accents and strokes. */
export function unaccented(text: string): string {
  const bare = folded(text).normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC');
  return bare.replaceAll(/[æœøđðħłþŧ]/g, (letter) => LETTERS[letter] ?? letter);
}

/**
 * Returns an expression that matches a whole text when it is the same, folded; for programs that take no function. Of
 * compatible forms, it knows those of full width. `isInLines`: elements such as `<br>`, which the text does not have, may
 * be all that divides its words.
 */
export function foldedPattern(text: string, { isInLines = false } = {}): RegExp {
  const pieces = folded(text).match(/ss|\P{M}\p{M}*/gu) ?? [];
  const space = isInLines ? `(?:${SPACES})?` : SPACES;
  const words = pieces.map((piece) => (piece === ' ' ? space : patternOf(piece)));
  return new RegExp(`^[\\s\\p{DI}]*${words.join('')}(?:${SPACES})?$`, 'iu');
}

/** Undrawn characters after a letter belong to its pattern, so that each character has one place to match. */
function patternOf(piece: string): string {
  const forms = [piece, piece.normalize('NFD'), ...(MARKS[piece] ?? ''), ...(ALSO[piece] ?? [])];
  if (/^[!-~]$/.test(piece)) forms.push(String.fromCharCode(piece.charCodeAt(0) + FULL_WIDTH));
  return `(?:${[...new Set(forms)].map(RegExp.escape).join('|')})\\p{DI}*`;
}

const SPACES = '\\s[\\s\\p{DI}]*';
const ALSO: Readonly<Record<string, readonly string[]>> = { ss: ['ß'], i: ['İ', 'ı', 'i\u0307'], σ: ['ς'] };
