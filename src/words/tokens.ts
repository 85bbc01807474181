import { unaccented } from './folded.ts';

/*
 * The words of a text, as indexes and queries have them: folded, without accents. Scripts that are written without
 * spaces have no words: their words are pairs of neighbouring characters, and the last character of each run alone, so
 * that any part of a run is found.
 */

const MAX_WORD_CHARACTERS = 64;
/**
 * Maximum number of words of a text. Only characters that stand for several words give more than texts have room for.
 */
const MAX_TOKENS = 64 * 1024;
/** Parts of a piece without spaces, so long that they divide no word that people write. */
const PARTS = /.{1,1024}/gsu;

/** Korean has spaces, but no letter tells a noun from the particles that are written to it. */
const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
/** The signs that lengthen a vowel belong to two scripts. */
const CHARACTERS = `${UNSPACED_SCRIPTS.map((name) => `\\p{sc=${name}}`).join('')}ーｰ`;
const VOICED = '[\u3099\u309a\uff9e\uff9f]';
const UNSPACED = new RegExp(`[${CHARACTERS}]`, 'u');
const RUNS = new RegExp(`(?:[${CHARACTERS}]${VOICED}?)+|[^${CHARACTERS}]+`, 'gu');
/** Letters that were taken apart fold to one. */
const LETTERS_OF_RUN = new RegExp(`[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|.${VOICED}?`, 'gsu');
/** Ends of names that no letter tells from others: C++, C#. Full-width forms do not occur in folded texts. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['++', '＋＋'],
  ['#', '＃'],
]);
/** Letters and digits with what belongs to them; symbols, because some are letters in a frame. */
const PIECES = /[\p{L}\p{N}\p{M}\p{DI}\p{So}]+|(?<=[A-Za-z])(?:\+\+|#(?![\p{L}\p{N}]))/gu;
/** Characters between folded words. The marks that folding leaves are vowels, and belong to a word. */
const UNWRITTEN = /[^\p{L}\p{N}\p{M}]+/gu;
const ASCII = /^[0-9A-Za-z]+$/;

/** A word, and where in the text it is, in UTF-16 code units. */
export interface Token {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the words of a text in their order, at most `MAX_TOKENS`. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    if (tokens.length >= MAX_TOKENS) break;
    const end = index + piece.length;
    const name = ASCII.test(piece) ? cut(piece.toLowerCase()) : ENDS.get(piece);
    if (name !== undefined) tokens.push({ word: name, start: index, end });
    else addPiece(tokens, piece, index);
  }
  return tokens;
}

/** Returns the words of a text, each once, in their order. `divide` divides a run of an unspaced script. */
export function wordsOf(text: string, divide: (run: string) => readonly string[]): readonly string[] {
  return [...new Set(divided(unaccented(text), divide))];
}

/** Whether a word begins with a character of a script that is written without spaces. */
export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

/** Returns the pairs of neighbouring characters; a single character alone. */
export function pairsOf(run: string): readonly string[] {
  const characters = [...run];
  return characters.length === 1 ? characters : characters.slice(1).map((one, at) => `${characters[at]}${one}`);
}

function addPiece(tokens: Token[], piece: string, start: number): void {
  if (!UNSPACED.test(piece)) {
    addWords(tokens, piece, start);
    return;
  }
  for (const { 0: run, index } of piece.matchAll(RUNS)) {
    if (UNSPACED.test(run)) addRun(tokens, run, start + index);
    else addWords(tokens, run, start + index);
  }
}

function addWords(tokens: Token[], piece: string, start: number): void {
  for (const { 0: part, index } of piece.matchAll(PARTS)) {
    if (tokens.length >= MAX_TOKENS) return;
    const whole = { start: start + index, end: start + index + part.length };
    for (const word of divided(plain(part), pairsOf)) tokens.push({ word, ...whole });
  }
}

/** Adds the pairs of a run, each at its first character, and the last character. */
function addRun(tokens: Token[], run: string, start: number): void {
  const characters: Token[] = [];
  let at = start;
  for (const [character] of run.matchAll(LETTERS_OF_RUN)) {
    const end = at + character.length;
    for (const word of plain(character).replaceAll(UNWRITTEN, '')) characters.push({ word, start: at, end });
    at = end;
  }
  for (const [index, first] of characters.entries()) {
    const next = characters[index + 1];
    tokens.push(next === undefined ? first : { word: first.word + next.word, start: first.start, end: next.end });
  }
}

/** Folded pieces of texts, because the same ones occur again and again, and folding takes microseconds. */
const FOLDED = new Map<string, string>();
const MAX_FOLDED = 20_000;

function plain(piece: string): string {
  const known = FOLDED.get(piece);
  if (known !== undefined) return known;
  const folded = unaccented(piece);
  if (piece.length > MAX_WORD_CHARACTERS) return folded;
  if (FOLDED.size >= MAX_FOLDED) FOLDED.clear();
  FOLDED.set(piece, folded);
  return folded;
}

function divided(folded: string, divide: (run: string) => readonly string[]): readonly string[] {
  return folded
    .split(UNWRITTEN)
    .filter((word) => word !== '')
    .flatMap((word) =>
      UNSPACED.test(word)
        ? (word.match(RUNS) ?? []).flatMap((run) => (UNSPACED.test(run) ? divide(run) : [run]))
        : [word],
    )
    .map(cut);
}

export const cut = (word: string): string => word.slice(0, MAX_WORD_CHARACTERS);
