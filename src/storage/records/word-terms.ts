import { hashOf } from '../../words/text-hash.ts';
import { isUnspaced } from '../../words/tokens.ts';

/* The words of pages as terms of an index that holds no positions. The prefix tells them from words of the title. */

/** The term of every record whose page's words are indexed. */
export const HAS_WORDS = '\uE010';
const WORD = '\uE011';

/** The characters of ASCII that are drawn. */
const FIRST_SIGN = 0x21;
const SIGNS = 94;

/** Returns the terms of words, each once. Characters of unspaced scripts are found alone, too. */
export function wordTermsOf(words: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const word of words) {
    all.add(word);
    if (isUnspaced(word)) for (const character of word) all.add(character);
  }
  return [HAS_WORDS, ...[...all].map(wordTerm)];
}

/**
 * Returns one character for each word, in their order, in which a database looks for phrases. Words share characters,
 * so what is found must be compared with the words.
 */
export function signsOf(words: readonly string[]): string {
  return words.map((word) => String.fromCharCode(FIRST_SIGN + (hashOf(word) % SIGNS))).join('');
}

export function wordTerm(word: string): string {
  return `${WORD}${word}`;
}
