import type { Filter } from 'mongodb';
import type { Sequence, WordsQuery } from '../../words/query.ts';
import { HAS_WORDS, isOneTerm, signsOf, wordTerm } from '../records/word-terms.ts';
import type { WordsDocument } from './documents.ts';

/*
 * Conditions of lists on the terms of pages' words. Terms have no positions: phrases are looked for in the signs of the
 * words, where the database finds few pages that do not have them, and then in the words.
 */

export interface WordsFilter {
  /** Terms that a result must have, at least one. */
  readonly terms: readonly string[];
  /** The beginnings of terms, of each of which a result must have one. */
  readonly prefixes: readonly RegExp[];
  /** All conditions on terms and signs. The first is the one whose entries of the index are read. */
  readonly conditions: readonly Filter<WordsDocument>[];
  /** Set when the terms do not tell whether a result matches. */
  readonly phrases: WordsQuery | undefined;
}

export function wordsFilter(query: WordsQuery): WordsFilter {
  const { wanted, unwanted } = query;
  const terms = wanted.flatMap((sequence) =>
    isOneTerm(sequence) ? sequence.words : sequence.words.slice(0, wholeWords(sequence)),
  );
  const prefixes = wanted.filter(endsInPrefix).map(beginning);
  const without = unwanted.filter(({ words: { length } }) => length === 1);
  const known = terms.length === 0 ? [HAS_WORDS] : [...new Set(terms)].map(wordTerm);
  const phrases = wanted.map(({ words, isPrefix }) => (isPrefix ? words.slice(0, -1) : words));
  const conditions: Filter<WordsDocument>[] = [
    ...known.map((term) => ({ terms: term })),
    ...prefixes.map((prefix) => ({ terms: prefix })),
    ...without.map((sequence) => ({
      terms: endsInPrefix(sequence) ? { $not: beginning(sequence) } : { $ne: wordTerm(sequence.words[0] ?? '') },
    })),
    ...phrases
      .filter(({ length }) => length > 1)
      .map((words) => ({ signs: new RegExp(RegExp.escape(signsOf(words))) })),
  ];
  const isPhrase = ({ words: { length } }: Sequence) => length > 1;
  return {
    terms: known,
    prefixes,
    conditions,
    phrases: wanted.some(isPhrase) || unwanted.some(isPhrase) ? query : undefined,
  };
}

function endsInPrefix(sequence: Sequence): boolean {
  return sequence.isPrefix && !isOneTerm({ ...sequence, words: sequence.words.slice(-1) });
}

/** Number of words at the beginning that are whole. */
function wholeWords(sequence: Sequence): number {
  return sequence.words.length - (endsInPrefix(sequence) ? 1 : 0);
}

function beginning({ words }: Sequence): RegExp {
  // Words are letters and digits, which mean themselves.
  return new RegExp(`^${wordTerm(words.at(-1) ?? '')}`);
}
