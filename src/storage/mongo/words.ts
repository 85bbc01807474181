import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import { unpackWords } from '../../capture/page-words.ts';
import type { Result } from '../../capture/result.ts';
import { meetsWords } from '../../words/find-words.ts';
import type { Sequence, WordsQuery } from '../../words/query.ts';
import { tokensOf } from '../../words/tokens.ts';
import { HAS_WORDS, isOneTerm, wordsWanted, wordTerm } from '../records/word-terms.ts';
import type { Collections } from './collections.ts';
import type { ResultDocument, WordsDocument } from './documents.ts';

/*
 * The words of pages in MongoDB: terms of their results, as the words of titles, because `$text` cannot return the newest
 * results without sorting all. Terms have no positions, so a phrase is looked for in the stored words of the results
 * that have all of its words.
 */

/** Texts that are looked through between two turns of the event loop. */
const TEXTS_AT_ONCE = 20;

export interface WordsFilter {
  /** Terms that a result must have. */
  readonly terms: readonly string[];
  /** The beginnings of terms, of each of which a result must have one. */
  readonly prefixes: readonly RegExp[];
  /** Conditions beside the terms. */
  readonly more: readonly Filter<ResultDocument>[];
  /** Set when the terms do not tell whether a result matches. */
  readonly phrases: WordsQuery | undefined;
}

export function wordsFilter(words: string | undefined): WordsFilter {
  const query = wordsWanted(words);
  if (query === undefined) return { terms: [], prefixes: [], more: [], phrases: undefined };
  const { wanted, unwanted } = query;
  const terms = wanted.flatMap((sequence) =>
    isOneTerm(sequence) ? sequence.words : sequence.words.slice(0, wholeWords(sequence)),
  );
  const prefixes = wanted.filter(endsInPrefix).map(beginning);
  const without = unwanted.filter(({ words: { length } }) => length === 1);
  const more: Filter<ResultDocument>[] = [
    ...prefixes.map((prefix) => ({ terms: prefix })),
    ...without.map((sequence) => ({
      terms: endsInPrefix(sequence) ? { $not: beginning(sequence) } : { $ne: wordTerm(sequence.words[0] ?? '') },
    })),
  ];
  const isPhrase = ({ words: { length } }: Sequence) => length > 1;
  return {
    terms: terms.length === 0 && prefixes.length === 0 ? [HAS_WORDS] : [...new Set(terms)].map(wordTerm),
    prefixes,
    more,
    phrases: wanted.some(isPhrase) || unwanted.some(isPhrase) ? query : undefined,
  };
}

/** Returns the results whose page's words meet the query. */
export async function withPhrases<T extends Pick<Result, 'id'>>(
  { words: texts }: Collections,
  query: WordsQuery,
  results: readonly T[],
): Promise<readonly T[]> {
  const found = await texts.find({ _id: { $in: results.map(({ id }) => id) } }).toArray();
  const packed = new Map(found.map(({ _id, words }) => [_id, words]));
  const matching: T[] = [];
  for (const [at, result] of results.entries()) {
    if (at % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) await nextTurn();
    if (meetsWords(tokensOf(unpackWords(packed.get(result.id) ?? '').text), query)) matching.push(result);
  }
  return matching;
}

/** Returns the document of the words of a result's page; none without words. */
export function wordsDocumentOf(id: number, words: string | undefined): readonly WordsDocument[] {
  return words === undefined ? [] : [{ _id: id, words }];
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
