import type { Filter } from 'mongodb';
import type { Sequence, WordsQuery } from '../../words/query.ts';
import type { ResultFilter } from '../ports/result-store.ts';
import { hostRanges } from '../records/hosts.ts';
import { rangeTerm, wantedTerms } from '../records/terms.ts';
import { HAS_WORDS, isOneTerm, wordTerm } from '../records/word-terms.ts';
import type { WordsDocument } from './documents.ts';

/* Conditions of lists on the terms of pages' words. Terms have no positions: phrases are looked for in the words. */

export interface WordsFilter {
  /** Terms that a result must have. */
  readonly terms: readonly string[];
  /** The beginnings of terms, of each of which a result must have one. */
  readonly prefixes: readonly RegExp[];
  /** Conditions beside the terms. */
  readonly more: readonly Filter<WordsDocument>[];
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
  const more: Filter<WordsDocument>[] = [
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

/** Returns conditions on facts that `factTermsOf` has; results that meet them may still not meet the filter. */
export function factsFilter(filter: ResultFilter): readonly Filter<WordsDocument>[] {
  const { status, outcome, verdict } = filter.where ?? {};
  const facts = wantedTerms({ status, outcome, verdict }, filter.ofKey).map((term) => ({ terms: term }));
  if (filter.by !== 'host') return facts;
  const ofHost = hostRanges(filter.host).map((range) => rangeTerm(range)?.term);
  const known = ofHost.filter((term) => term !== undefined);
  return known.length < ofHost.length ? facts : [...facts, { terms: { $in: known } }];
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
