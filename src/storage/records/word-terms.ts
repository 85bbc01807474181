import type { Sequence } from '../../words/query.ts';
import { isUnspaced, tokensOf } from '../../words/tokens.ts';

/* The words of pages as terms of an index that holds no positions. The prefix tells them from words of the title. */

/** The term of every record whose page's words are indexed. */
export const HAS_WORDS = '\uE010';
const WORD = '\uE011';

/** Returns the terms of a text, each once. Characters of unspaced scripts are found alone, too. */
export function wordTermsOf(text: string): readonly string[] {
  const words = new Set<string>();
  for (const { word } of tokensOf(text)) {
    words.add(word);
    if (isUnspaced(word)) for (const character of word) words.add(character);
  }
  return [HAS_WORDS, ...[...words].map(wordTerm)];
}

export function wordTerm(word: string): string {
  return `${WORD}${word}`;
}

/** Whether terms alone tell that a text has a sequence: without regard to the order of its words. */
export function isOneTerm({ words, isPrefix }: Sequence): boolean {
  return words.length === 1 && (!isPrefix || isUnspaced(words[0] ?? ''));
}
