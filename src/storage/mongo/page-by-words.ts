import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Filter, FindCursor } from 'mongodb';
import { unpackWords } from '../../capture/page-words.ts';
import type { Result } from '../../capture/result.ts';
import { indexed, meetsWords } from '../../words/find-words.ts';
import { wordsQuery } from '../../words/query.ts';
import { tokensOf } from '../../words/tokens.ts';
import type { Keyset, ResultFilter } from '../ports/result-store.ts';
import { placeOf, startOf, timeOf } from '../records/record.ts';
import { HAS_WORDS } from '../records/word-terms.ts';
import { BY_WORD, type Collections } from './collections.ts';
import { recordOf, secondOf, type WordsDocument } from './documents.ts';
import { meetsFilter } from './meets-filter.ts';
import { factsFilter, type WordsFilter, wordsFilter } from './words-filter.ts';

/*
 * Lists by the words of the page. The words are in a collection of their own, with an index of small entries in the order
 * of time. It also has the facts of the records by which lists are most often narrowed; the records that are found are
 * compared with all conditions. `$text` was no choice: it cannot return the newest results without sorting all of them.
 */

/** Documents read at once beyond those that are missing in the page. */
const READ_AHEAD = 10;
const MAX_READ = 500;
/** Number of pages whose words are compared with phrases in one turn of the event loop. */
const COMPARED_A_TURN = 10;
/** Number of entries above which a term is frequent, and terms are not compared any more. */
const FREQUENT = 1000;
/** Number of results with a prefix above which some of the newest have it. */
const RARE = 5000;

type Candidate = Pick<WordsDocument, '_id' | 'second'> & Partial<Pick<WordsDocument, 'words'>>;

export async function pageByWords(
  collections: Collections,
  filter: ResultFilter,
  words: string,
  limit: number,
  from: Keyset | undefined,
): Promise<readonly Result[]> {
  const { where = {} } = filter;
  const wanted = wordsFilter(wordsQuery(words));
  const after = placeOf(startOf(where, from));
  const candidates = await candidatesOf(collections, filter, wanted, {
    $lte: secondOf(after.probedAt),
    ...(where.from === undefined ? {} : { $gte: secondOf(timeOf(where.from)) }),
  });
  const found: Result[] = [];
  try {
    for (;;) {
      const read = await nextOf(candidates, Math.min(limit - found.length + READ_AHEAD, MAX_READ));
      found.push(...(await matchingOf(collections, filter, wanted, read, after)));
      found.sort((a, b) => timeOf(b.probed_at) - timeOf(a.probed_at) || b.id - a.id);
      const last = read.at(-1);
      const least = found[limit - 1];
      // All results of the last second are read: within it, they are in no order.
      const isFull = last !== undefined && least !== undefined && last.second < secondOf(timeOf(least.probed_at));
      if (last === undefined || isFull) return found.slice(0, limit);
    }
  } finally {
    await candidates.close();
  }
}

/** Returns the documents whose terms match, newest first. */
async function candidatesOf(
  collections: Collections,
  filter: ResultFilter,
  { terms, prefixes, more, phrases }: WordsFilter,
  second: Readonly<Record<string, number>>,
): Promise<FindCursor<Candidate>> {
  const all = [...terms.map((term) => ({ terms: term })), ...factsFilter(filter)];
  const first = await rarestFirst(collections, all, prefixes);
  return collections.words
    .find({ $and: [...first, { second }, ...more] })
    .hint(BY_WORD)
    .sort({ second: -1 })
    .project<Candidate>(phrases === undefined ? { second: 1 } : { second: 1, words: 1 });
}

/** Puts the rarest condition first: MongoDB reads its index entries, and compares the documents with the others. */
async function rarestFirst(
  { words }: Collections,
  filters: readonly Filter<WordsDocument>[],
  prefixes: readonly RegExp[],
): Promise<readonly Filter<WordsDocument>[]> {
  if (filters.length < 2 && prefixes.length === 0) return filters;
  const counted = async (filter: Filter<WordsDocument>, limit: number) => ({
    filter,
    count: await words.countDocuments(filter, { limit, hint: BY_WORD }),
  });
  const whole = await Promise.all(filters.map((filter) => counted(filter, FREQUENT)));
  const rarest = whole.toSorted((a, b) => a.count - b.count);
  const isFew = rarest[0] !== undefined && rarest[0].count < FREQUENT;
  // Entries with a prefix are not in the order of time, so only a few are read and sorted.
  const beginning = isFew ? [] : await Promise.all(prefixes.map((terms) => counted({ terms }, RARE)));
  const few = beginning.filter(({ count }) => count < RARE).toSorted((a, b) => a.count - b.count);
  const ordered = [...few, ...rarest].map(({ filter }) => filter);
  return ordered.length > 0 ? ordered : [{ terms: HAS_WORDS }];
}

async function nextOf(candidates: FindCursor<Candidate>, count: number): Promise<readonly Candidate[]> {
  const read: Candidate[] = [];
  while (read.length < count) {
    const next = await candidates.next();
    if (next === null) break;
    read.push(next);
  }
  return read;
}

/** Returns the results of these documents that meet all conditions and follow a position. */
async function matchingOf(
  { results }: Collections,
  filter: ResultFilter,
  { phrases }: WordsFilter,
  read: readonly Candidate[],
  after: { readonly probedAt: number; readonly id: number },
): Promise<readonly Result[]> {
  const isMatch = ({ words = '' }: Candidate) =>
    phrases === undefined || meetsWords(indexed(tokensOf(unpackWords(words).text)), phrases);
  const ids: number[] = [];
  for (const [at, each] of read.entries()) {
    if (phrases !== undefined && at % COMPARED_A_TURN === COMPARED_A_TURN - 1) await nextTurn();
    if (isMatch(each)) ids.push(each._id);
  }
  if (ids.length === 0) return [];
  const found = await results.find({ _id: { $in: ids } }).toArray();
  return found.map(recordOf).filter((result) => {
    const probedAt = timeOf(result.probed_at);
    const isAfter = probedAt < after.probedAt || (probedAt === after.probedAt && result.id < after.id);
    return isAfter && meetsFilter(result, filter);
  });
}
