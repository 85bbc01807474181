import { unpackWords } from '../../capture/result/page-words.ts';
import { type Sequence, singleWordsOf, wordsQuery } from '../../words/query.ts';
import { spellingsOf } from '../../words/spellings.ts';
import { isUnspaced, tokensOf } from '../../words/tokens.ts';
import { HAS_WORDS, wordTerm } from '../records/word-terms.ts';

/* The words of pages in the FTS5 table, which takes them apart at spaces alone. Other spellings of them are terms. */

/** Returns the words of a page in their order, separated by spaces, and its terms. `packed`: as the record has them. */
export function indexedWords(packed: string): { readonly words: string; readonly terms: readonly string[] } {
  const { text } = unpackWords(packed);
  const tokens = tokensOf(text);
  const spellings = new Set(spellingsOf(text, tokens).map(({ word }) => wordTerm(word)));
  return { words: tokens.map(({ word }) => word).join(' '), terms: [HAS_WORDS, ...spellings] };
}

/** Returns a condition in FTS5's query language; undefined without one. */
export function wordsExpression(words: string | undefined): string | undefined {
  if (words === undefined) return undefined;
  const { wanted, unwanted } = wordsQuery(words);
  const all = wanted.length === 0 ? `terms : "${HAS_WORDS}"` : wanted.map(sequenceExpression).join(' AND ');
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.map(sequenceExpression).join(' OR ')})`;
}

function sequenceExpression(sequence: Sequence): string {
  const { words, others, isPrefix } = sequence;
  const spellings = singleWordsOf(sequence).filter((word) => !isUnspaced(word));
  const alternatives = [
    ...[words.join(' '), ...others].map((phrase) => `words : "${phrase}"`),
    ...spellings.map((word) => `terms : "${wordTerm(word)}"`),
  ];
  return `(${alternatives.map((one) => (isPrefix ? `${one} *` : one)).join(' OR ')})`;
}
