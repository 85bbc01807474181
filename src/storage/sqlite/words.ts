import { unpackWords } from '../../capture/page-words.ts';
import { type Sequence, wordsQuery } from '../../words/query.ts';
import { tokensOf } from '../../words/tokens.ts';
import { HAS_WORDS } from '../records/word-terms.ts';

/* The words of pages in the FTS5 table, which takes them apart at spaces alone. */

/** Returns the words of a page in their order, separated by spaces. `packed`: as the record has them. */
export function wordsInOrder(packed: string): string {
  return tokensOf(unpackWords(packed).text)
    .map(({ word }) => word)
    .join(' ');
}

/** Returns a condition in FTS5's query language; undefined without one. */
export function wordsExpression(words: string | undefined): string | undefined {
  if (words === undefined) return undefined;
  const { wanted, unwanted } = wordsQuery(words);
  const all = wanted.length === 0 ? `terms : "${HAS_WORDS}"` : wanted.map(sequenceExpression).join(' AND ');
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.map(sequenceExpression).join(' OR ')})`;
}

function sequenceExpression({ words, isPrefix }: Sequence): string {
  return `words : "${words.join(' ')}"${isPrefix ? ' *' : ''}`;
}
