import { comparable, withFewMarks } from './comparable.ts';

/* How words are found: as people write them, whatever their case, spelling and typography. */

/** Marks with the other forms of each. */
const MARKS: Readonly<Record<string, string>> = {
  "'": '\u2018\u2019\u201b\u02bc\u00b4',
  '"': '\u201c\u201d\u201e\u201f\u00ab\u00bb',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
};
const FORMS = Object.entries(MARKS).map(([mark, forms]) => [mark, new RegExp(`[${forms}]`, 'g')] as const);
/**
 * Letters that Unicode does not take apart: those of a letter and a stroke, or of two letters. Letters of Arabic that
 * many writers do not distinguish, or that keyboards of Persian have instead, and the line that lengthens a word.
 */
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
  '\u0629': '\u0647',
  '\u0640': '',
  '\u0649': '\u064a',
  '\u06a9': '\u0643',
  '\u06cc': '\u064a',
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');
const ARABIC_DIGITS = /[\u0660-\u0669\u06f0-\u06f9]/g;
/** Marks that are accents. Those of other scripts are vowels and parts of letters, as the voicing marks of kana are. */
const ACCENTS =
  /(?=\p{M})[\p{sc=Zinh}\p{sc=Latn}\p{sc=Cyrl}\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\u093c](?<![\p{sc=Hira}\p{sc=Kana}][\u3099\u309a])/gu;
/** An n without a vowel and the sign for a nasal: Hindi is written with either. */
const NASALS = /\u0928\u094d|\u0901/g;
/** Difference between the full-width form of a character of ASCII and that character. */
const FULL_WIDTH = 0xfee0;

/**
 * Returns a text as it is searched: as it is compared, without regard to case, to compatibility forms (full-width
 * letters, ligatures), and to the forms of quotation marks and dashes. `ß` is `ss`.
 */
export function folded(text: string): string {
  let plain = withFewMarks(text.replaceAll(/\p{DI}/gu, '')).normalize('NFKC');
  for (const [mark, forms] of FORMS) plain = plain.replace(forms, mark);
  // By way of capitals, which unites the letters that share one. The dot of a Turkish İ stays alone then.
  const lower = plain.toLowerCase().toUpperCase().toLowerCase();
  return comparable(lower.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ'));
}

/** Returns a text as `folded` does, without accents and strokes, and without regard to other spellings. */
export function unaccented(text: string): string {
  const bare = folded(text).normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFKC');
  return bare
    .replaceAll(LETTER, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(ARABIC_DIGITS, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replaceAll(NASALS, '\u0902');
}

/**
 * Returns an expression that matches a whole text when it is the same, folded; for programs that take no function. Of
 * compatibility forms, it knows those of full width, ligatures and the ellipsis. `isInLines`: elements such as `<br>`,
 * which the text does not have, may be all that divides its words.
 */
export function foldedPattern(text: string, { isInLines = false } = {}): RegExp {
  const pieces = folded(text).match(PIECES) ?? [];
  const space = isInLines ? `(?:${SPACES})?` : SPACES;
  const words = pieces.map((piece) => (piece === ' ' ? space : patternOf(piece)));
  return new RegExp(`^[\\s\\p{DI}]*${words.join('')}(?:${SPACES})?$`, 'iu');
}

/** Undrawn characters after a letter belong to its pattern, so that each character has one place to match. */
function patternOf(piece: string): string {
  const letters = piece.match(LETTER_WITH_MARKS) ?? [];
  if (letters.length > 1) return `(?:${letters.map(patternOf).join('')}|(?:${ALSO[piece]?.join('|')})\\p{DI}*)`;
  const forms = [piece, piece.normalize('NFD'), ...(MARKS[piece] ?? ''), ...(ALSO[piece] ?? [])];
  if (/^[!-~]$/.test(piece)) forms.push(String.fromCharCode(piece.charCodeAt(0) + FULL_WIDTH));
  return `(?:${[...new Set(forms)].map(RegExp.escape).join('|')})\\p{DI}*`;
}

const SPACES = '\\s[\\s\\p{DI}]*';
const LETTER_WITH_MARKS = /\P{M}\p{M}*/gu;
const ALSO: Readonly<Record<string, readonly string[]>> = {
  ss: ['ß'],
  ff: ['ﬀ'],
  fi: ['ﬁ'],
  fl: ['ﬂ'],
  ffi: ['ﬃ', 'ﬀi', 'fﬁ'],
  ffl: ['ﬄ', 'ﬀl', 'fﬂ'],
  '...': ['…'],
  i: ['İ', 'ı', 'i\u0307'],
  σ: ['ς'],
};
/** Letters, and several that another character stands for. */
const PIECES = /ffi|ffl|f[fil]|ss|\.{3}|\P{M}\p{M}*/gu;
