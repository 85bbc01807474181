import type { Filter } from 'mongodb';
import { type Sequence, singleWordsOf, type WordsQuery } from '../../words/query.ts';
import { isUnspaced } from '../../words/tokens.ts';
import { HAS_WORDS, signsOf, wordTerm } from '../records/word-terms.ts';
import type { WordsDocument } from './documents.ts';

/*
 * Conditions of lists on the terms of pages' words. Terms have no positions: phrases are looked for in the signs of the
 * words, where the database finds few pages that do not have them, and then in the words.
 */

export interface WordsFilter {
  /** Terms: of each of these, a result must have one. */
  readonly terms: readonly (readonly string[])[];
  /** The same with beginnings of terms among them. */
  readonly prefixes: readonly Choice[];
  /** All conditions on terms and signs. The first is the one whose entries of the index are read. */
  readonly conditions: readonly Filter<WordsDocument>[];
  /** Set when the terms do not tell whether a result matches. */
  readonly phrases: WordsQuery | undefined;
}

/** Terms, and beginnings of terms. */
export type Choice = readonly (string | RegExp)[];

export function wordsFilter(query: WordsQuery): WordsFilter {
  const { wanted, unwanted } = query;
  const choices = wanted.flatMap(choicesOf);
  const terms = choices.filter(areWhole);
  const known = terms.length === 0 ? [[HAS_WORDS]] : terms;
  const prefixes = choices.filter((choice) => !areWhole(choice));
  const without = unwanted.filter((sequence) => !isPhrase(sequence)).map(singleTermsOf);
  return {
    terms: known,
    prefixes,
    conditions: [
      ...[...known, ...prefixes].map(hasOneOf),
      ...without.map((choice) => ({ terms: { $nin: [...choice] } })),
      ...wanted.filter(isPhrase).map(phraseCondition),
    ],
    phrases: [...wanted, ...unwanted].some(isPhrase) ? query : undefined,
  };
}

const isPhrase = ({ words }: Sequence): boolean => words.length > 1;
const areWhole = (choice: Choice): choice is readonly string[] => choice.every((term) => typeof term === 'string');
const hasOneOf = (choice: Choice): Filter<WordsDocument> => ({ terms: { $in: [...choice] } });

/** Returns the terms of which each result that has a sequence has one, for each of several. */
function choicesOf(sequence: Sequence): readonly Choice[] {
  const { words, others, isPrefix } = sequence;
  if (!isPhrase(sequence)) return [singleTermsOf(sequence)];
  const ofPhrase = words.map((word, at) => termOf(word, isPrefix && at === words.length - 1));
  if (others.length === 0) return ofPhrase.map((term) => [term]);
  // One word of the phrase, or what means the same.
  const longest = words.reduce((found, word, at) => (word.length > (words[found]?.length ?? 0) ? at : found), 0);
  return [[...ofPhrase.slice(longest, longest + 1), ...singleTermsOf(sequence)]];
}

function phraseCondition(sequence: Sequence): Filter<WordsDocument> {
  const { words, others, isPrefix } = sequence;
  const whole = isPrefix ? words.slice(0, -1) : words;
  const all = choicesOf({ ...sequence, others: [] }).map(hasOneOf);
  const ofPhrase = { $and: [...all, { signs: new RegExp(RegExp.escape(signsOf(whole))) }] };
  return others.length === 0 ? ofPhrase : { $or: [ofPhrase, hasOneOf(singleTermsOf(sequence))] };
}

function singleTermsOf(sequence: Sequence): Choice {
  return singleWordsOf(sequence).map((word) => termOf(word, sequence.isPrefix));
}

/** Runs without spaces are indexed by their parts, so the beginning of one is a term. */
function termOf(word: string, isPrefix: boolean): string | RegExp {
  // Words are letters and digits, which mean themselves.
  return isPrefix && !isUnspaced(word) ? new RegExp(`^${wordTerm(word)}`) : wordTerm(word);
}
