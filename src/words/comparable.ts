/*
 * How texts are compared: those that look the same are equal. `folded.ts` has how they are found.
 */

/** Most texts are only of these characters. */
const ASCII = /^[\t-\r\x20-\x7e]*$/;
/** Cursive and Indic scripts, whose letters have other forms beside a joiner. */
const JOINED = 'Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh';
/** Characters without a form of their own that change what is drawn. */
const DRAWN = [
  // In emoji, and in flags of regions.
  '(?<=\\p{ExtPict}|\\p{EMod}|\\ufe0f)\\u200d(?=\\p{ExtPict})',
  '(?<=\\p{Emoji})\\ufe0f',
  '(?<=\\u{1f3f4}[\\u{e0020}-\\u{e007e}]*)[\\u{e0020}-\\u{e007f}]',
  `(?<=${JOINED.replace(/\w+/g, '\\p{sc=$&}').replaceAll(' ', '|')})[\\u200c\\u200d]`,
  // Overrides of the direction turn letters around.
  '[\\u202d\\u202e]',
];
/** All others, such as soft hyphens, zero-width spaces and marks of direction, are not drawn. */
const UNDRAWN = new RegExp(`(${DRAWN.join('|')})|\\p{DI}`, 'gu');
const SPACE = /\s/;
/** Hyphens that look like the one of ASCII; one of them does not break. */
const HYPHENS = /[\u2010\u2011]/g;
/** Maximum number of marks on a character: that of Unicode's stream-safe texts. */
export const MAX_MARKS = 30;
/** The last two are letters, whose compatible forms are marks. */
const MARK = '[\\p{M}\\uff9e\\uff9f]';
const SURPLUS_MARKS = new RegExp(`(${MARK}{${MAX_MARKS}})${MARK}+`, 'gu');
/** Characters with those that belong to them, or many that stand alone. */
const PIECES =
  /[\0-\x7f]+(?=[\0-\x7f]|$)|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|.(?:[\p{M}\p{DI}\p{EMod}]|(?<=\u200d).)*/gsu;

/**
 * Returns a text as it is compared: without characters that are not drawn, in composed letters, with one space for
 * white space of any kind, and none at its ends.
 */
export function comparable(text: string): string {
  return spaced(text).trim();
}

/** Whether anything of a text is drawn. */
export function hasWords(text: string): boolean {
  return /[^\s\p{DI}]/u.test(text);
}

/** Returns a text without the characters that are not drawn. */
export function drawn(text: string): string {
  return /\p{DI}/u.test(text) ? text.replace(UNDRAWN, '$1') : text;
}

/** A text as it is compared, with a space at an end, and where in the original each of its characters was. */
export interface Placed {
  readonly words: string;
  readonly places: readonly number[];
}

/** As `comparable`, with the places of the characters. */
export function placed(text: string): Placed {
  const places: number[] = [];
  let words = '';
  let isAfterSpace = false;
  const add = (character: string, place: number) => {
    const isSpace = SPACE.test(character);
    const isMore = isSpace && isAfterSpace;
    isAfterSpace = isSpace;
    if (isMore) return;
    words += isSpace ? ' ' : character;
    for (let unit = 0; unit < character.length; unit += 1) places.push(place);
  };
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    if (ASCII.test(piece)) for (let at = 0; at < piece.length; at += 1) add(piece.charAt(at), index + at);
    else for (const character of spaced(piece)) add(character, index);
  }
  return { words, places };
}

function spaced(text: string): string {
  return composed(text).replace(/\s+/g, ' ');
}

function composed(text: string): string {
  return ASCII.test(text) ? text : withFewMarks(drawn(text)).normalize('NFC').replace(HYPHENS, '-');
}

/** Returns a text with few marks on each character: normalising orders them, in quadratic time. */
export function withFewMarks(text: string): string {
  return text.replace(SURPLUS_MARKS, '$1');
}
