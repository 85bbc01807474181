import { spellingsOf } from './spellings.ts';
import { isUnspaced, tokensOf } from './tokens.ts';

/* Queries by the words of a page: words, "a phrase", -without, and a prefix ferr*. */

const MAX_CHARACTERS = 300;
const MAX_TERMS = 40;
/** Shorter prefixes would match a large part of all words. */
const MIN_PREFIX = 3;
const QUOTES = /[\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02]/g;
/** Two hyphens are the beginning of an option: `--verbose`. */
const TERMS = /(-(?!-))?(?:"([^"]*)"?|([^\s"]+))(\*?)/gu;

/**
 * Words that follow each other, or one of `others`: words that mean the same. `isPrefix`: the last one is the beginning
 * of a word.
 */
export interface Sequence {
  readonly words: readonly string[];
  readonly others: readonly string[];
  readonly isPrefix: boolean;
}

export interface WordsQuery {
  readonly wanted: readonly Sequence[];
  readonly unwanted: readonly Sequence[];
}

/** Returns a query, or a text that says what is wrong with it. */
export function parseWords(text: string): WordsQuery | string {
  if (text.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  const wanted: Sequence[] = [];
  const unwanted: Sequence[] = [];
  for (const [, minus, phrase, bare = '', star] of text.replaceAll(QUOTES, '"').matchAll(TERMS)) {
    const sequence = sequenceOf(phrase ?? bare, star === '*' || (phrase ?? bare).trimEnd().endsWith('*'));
    if (sequence.words.length === 0) continue;
    const last = sequence.words.at(-1) ?? '';
    if (sequence.isPrefix && !isUnspaced(last) && [...last].length < MIN_PREFIX) {
      return `must have at least ${MIN_PREFIX} letters before *, not ${JSON.stringify(`${last}*`)}`;
    }
    (minus === '-' ? unwanted : wanted).push(sequence);
  }
  const words = [...wanted, ...unwanted].reduce((sum, sequence) => sum + sequence.words.length, 0);
  if (words === 0) return 'must have at least one letter or digit';
  return words > MAX_TERMS ? `must have at most ${MAX_TERMS} words` : { wanted, unwanted };
}

/** Returns a query that was checked before. */
export function wordsQuery(text: string): WordsQuery {
  const query = parseWords(text);
  return typeof query === 'string' ? { wanted: [], unwanted: [] } : query;
}

/** Returns the words of which any one suffices: a single word, and the other spellings of a sequence. */
export function singleWordsOf({ words, others }: Sequence): readonly string[] {
  return words.length === 1 ? [...words, ...others] : others;
}

/** A run of an unspaced script matches any part of a longer one, so its end is that of a pair. */
function sequenceOf(text: string, isPrefix: boolean): Sequence {
  const tokens = tokensOf(text);
  const words = tokens.map(({ word }) => word);
  const [start, end] = [tokens[0]?.start, tokens.at(-1)?.end];
  const others = spellingsOf(text, tokens).flatMap((one) => (one.start === start && one.end === end ? one.word : []));
  const last = words.at(-1) ?? '';
  const isRun = isUnspaced(last);
  if (isRun && words.length > 1 && [...last].length === 1 && isUnspaced(words.at(-2) ?? '')) words.pop();
  return { words, others, isPrefix: isPrefix || (isRun && [...last].length === 1 && words.at(-1) === last) };
}
