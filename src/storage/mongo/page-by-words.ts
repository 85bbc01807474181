import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError } from '../../capture/errors.ts';
import { unpackWords } from '../../capture/result/page-words.ts';
import type { Result } from '../../capture/result/result.ts';
import { meetsWords, wordsIn } from '../../words/find-words.ts';
import { wordsQuery } from '../../words/query.ts';
import type { Keyset, ResultFilter } from '../ports/result-store.ts';
import { wantedChoices } from '../records/host-terms.ts';
import { hostKeys, hostRanges, matchesHost } from '../records/hosts.ts';
import { placeOf, startOf, timeOf } from '../records/record.ts';
import { termsOf, wantedTerms } from '../records/terms.ts';
import { urlKeysOf, wantedUrlKeys } from '../records/url-keys.ts';
import { BY_WORD, type Collections } from './collections.ts';
import { momentOf, recordOf, type WordsDocument } from './documents.ts';
import { commonMoments, type MomentSpan, momentsOfFacts, momentsOfPrefix, momentsOfWord } from './moments.ts';
import { type WordsFilter, wordsFilter } from './words-filter.ts';

/*
 * Lists by the words of the page, which are in a collection of their own, with an index of small entries in the order
 * of time. The moments at which captures have all words and facts are found in indexes; the documents of these moments
 * are compared with all conditions. `$text` was no choice: it cannot return the newest results without sorting all of
 * them.
 */

/** Moments whose documents are read at first, and at most, beyond the results that are missing in the page. */
const READ_AHEAD = 10;
const MAX_READ = 500;
/** Results that are read together. */
const PART = 30;
/** Time for which the words of pages are compared with phrases in one turn of the event loop, in milliseconds. */
const TURN_MS = 10;
/** Maximum number of moments at which a phrase is looked for, for the results of one call of a reader. */
const MAX_MOMENTS_OF_PHRASE = 20_000;
/** There are no captures before and after these. */
const FIRST = momentOf(0);
const LAST = momentOf(Date.UTC(2100, 0, 1));

type Candidate = Pick<WordsDocument, '_id' | 'moment'> & Partial<Pick<WordsDocument, 'words'>>;

/** Returns a function that returns the next results of a list, newest first, at most the given number. */
export function readByWords(
  collections: Collections,
  filter: ResultFilter,
  limit: number,
  from: Keyset | undefined,
  maxMoments = MAX_MOMENTS_OF_PHRASE,
): (wanted: number) => Promise<readonly Result[]> {
  const budget = { moments: maxMoments };
  const parts = resultsByWords(collections, filter, limit, from, budget);
  const left: Result[] = [];
  return async (wanted) => {
    budget.moments = maxMoments;
    while (left.length < wanted) {
      const { value, done } = await parts.next();
      if (done === true) break;
      left.push(...value);
    }
    return left.splice(0, wanted);
  };
}

/** Iterates over the results of a list, newest first, in parts. */
async function* resultsByWords(
  collections: Collections,
  filter: ResultFilter,
  limit: number,
  from: Keyset | undefined,
  budget: { moments: number },
): AsyncGenerator<readonly Result[], undefined> {
  const { where = {} } = filter;
  const wanted = wordsFilter(wordsQuery(where.words ?? ''));
  const after = placeOf(startOf(where, from));
  const span = {
    from: where.from === undefined ? FIRST : Math.max(momentOf(timeOf(where.from)), FIRST),
    to: Math.min(momentOf(after.probedAt), LAST),
  };
  for await (const moments of momentsIn(collections, filter, wanted, span, limit)) {
    const candidates = await documentsAt(collections, wanted, moments);
    budget.moments -= moments.length;
    for (const part of inParts(await havingPhrases(wanted, candidates))) {
      yield await matchingOf(collections, filter, part, after);
    }
    if (wanted.phrases !== undefined && budget.moments <= 0) throw new CapstanError('phrase_too_frequent');
  }
}

/** Iterates over the moments at which results may match, newest first, in parts that become longer. */
async function* momentsIn(
  collections: Collections,
  filter: ResultFilter,
  { terms, prefixes }: WordsFilter,
  span: MomentSpan,
  limit: number,
): AsyncGenerator<readonly number[]> {
  const lists = [
    ...terms.map((term) => momentsOfWord(collections, term)),
    ...(await Promise.all(prefixes.map((prefix) => momentsOfPrefix(collections, prefix, span)))),
    ...(await momentsOfFacts(collections, filter)),
  ];
  let read = limit + READ_AHEAD;
  for await (const moments of commonMoments(lists, span, 4 * limit, read)) {
    for (let at = 0; at < moments.length; read = Math.min(2 * read, MAX_READ)) {
      yield moments.slice(at, at + read);
      at += read;
    }
  }
}

function documentsAt(
  { words }: Collections,
  { conditions, phrases }: WordsFilter,
  moments: readonly number[],
): Promise<readonly Candidate[]> {
  return words
    .find({ $and: [...conditions, { moment: { $in: [...moments] } }] })
    .hint(BY_WORD)
    .project<Candidate>(phrases === undefined ? { moment: 1 } : { moment: 1, words: 1 })
    .toArray();
}

/** Returns the documents that have the phrases, newest first. */
async function havingPhrases({ phrases }: WordsFilter, read: readonly Candidate[]): Promise<readonly Candidate[]> {
  const isMatch = ({ words = '' }: Candidate) =>
    phrases === undefined || meetsWords(wordsIn(unpackWords(words).text), phrases);
  const matching: Candidate[] = [];
  let since = performance.now();
  for (const each of read) {
    if (performance.now() - since > TURN_MS) {
      await nextTurn();
      since = performance.now();
    }
    if (isMatch(each)) matching.push(each);
  }
  return matching.sort((a, b) => b.moment - a.moment);
}

/** Divides documents in their order into parts. Those of one moment are not divided. */
function inParts(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const parts: Candidate[][] = [];
  for (const each of candidates) {
    const part = parts.at(-1);
    if (part === undefined || (part.length >= PART && part.at(-1)?.moment !== each.moment)) parts.push([each]);
    else part.push(each);
  }
  return parts;
}

/** Returns the results of these documents that meet all conditions and follow a position, newest first. */
async function matchingOf(
  { results }: Collections,
  filter: ResultFilter,
  candidates: readonly Candidate[],
  after: { readonly probedAt: number; readonly id: number },
): Promise<readonly Result[]> {
  const found = await results.find({ _id: { $in: candidates.map(({ _id }) => _id) } }).toArray();
  return found
    .map(recordOf)
    .filter((result) => {
      const probedAt = timeOf(result.probed_at);
      const isAfter = probedAt < after.probedAt || (probedAt === after.probedAt && result.id < after.id);
      return isAfter && meetsFilter(result, filter);
    })
    .sort((a, b) => timeOf(b.probed_at) - timeOf(a.probed_at) || b.id - a.id);
}

/** Whether a result meets a filter, apart from the words of its page. */
function meetsFilter(result: Result, filter: ResultFilter): boolean {
  const { where = {}, ofKey } = filter;
  const wanted = wantedTerms(where, ofKey);
  const choices = wantedChoices(where);
  const terms = wanted.length + choices.length === 0 ? [] : termsOf(result);
  return (
    wanted.every((term) => terms.includes(term)) &&
    choices.every((choice) => choice.some((term) => terms.includes(term))) &&
    (where.from === undefined || timeOf(result.probed_at) >= timeOf(where.from)) &&
    isChosen(result, filter)
  );
}

function isChosen(result: Result, filter: ResultFilter): boolean {
  switch (filter.by) {
    case 'all':
      return true;
    case 'host':
      return matchesHost(hostKeys(result.host), hostRanges(filter.host));
    case 'url': {
      const wanted = wantedUrlKeys(filter);
      return urlKeysOf(result).some((key) => wanted.some((each) => Buffer.compare(each, key) === 0));
    }
  }
}
