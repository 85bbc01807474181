import type { Result } from '../../capture/result.ts';
import { outcomeOf, type RecordedOutcome, type ResultConditions } from '../../capture/result-conditions.ts';

/*
 * The terms of a record: the keys of an inverted index, by which lists are filtered. Words of the title and the URLs
 * are terms as they are, folded; facts have a prefix that no word has. Both databases index the same terms, so they
 * find the same records.
 */

/** Prefixes of facts: private-use characters, which occur in no word. */
const STATUS = '\uE000';
const STATUS_CLASS = '\uE001';
const OUTCOME = '\uE002';
const HOST = '\uE003';
const URL_KEY = '\uE004';

/** Maximum number of words per text, because a URL of 8192 characters has many. */
const MAX_WORDS = 200;
const MAX_WORD_CHARACTERS = 64;
/**
 * Bytes of a URL's key in its term. Few, because the index holds each of them; the full URLs of matching records are
 * compared.
 */
const URL_KEY_BYTES = 5;

/** Scripts that are written without spaces: their words are pairs of neighbouring characters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const UNSPACED_RUN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu;

/** Returns the terms of a record, each once. */
export function termsOf(record: Result): readonly string[] {
  const { title, url, final_url, response_code } = record;
  const words = wordsOf(`${title} ${withoutScheme(url)} ${withoutScheme(final_url)}`, indexedPairs);
  const statusClass = Math.floor(response_code / 100);
  return [
    outcomeTerm(outcomeOf(record)),
    `${STATUS}${response_code}`,
    ...(statusClass > 0 ? [`${STATUS_CLASS}${statusClass}`] : []),
    ...words.slice(0, MAX_WORDS),
  ];
}

/** Returns the terms that a record must have to meet the conditions, apart from the times. */
export function wantedTerms({ status, outcome, text }: ResultConditions): readonly string[] {
  return [
    ...(text === undefined ? [] : wordsOf(text, wantedPairs)),
    ...(status === undefined ? [] : [statusTerm(status)]),
    ...(outcome === undefined ? [] : [outcomeTerm(outcome)]),
  ];
}

export function hostTerm(hostId: number): string {
  return `${HOST}${hostId}`;
}

export function urlTerm(key: Uint8Array): string {
  return `${URL_KEY}${Buffer.from(key.subarray(0, URL_KEY_BYTES)).toString('hex')}`;
}

/** Returns the term of an outcome, with letters and digits only. */
function outcomeTerm(outcome: RecordedOutcome): string {
  return `${OUTCOME}${outcome.replaceAll('_', '')}`;
}

function statusTerm(status: string): string {
  return status.endsWith('xx') ? `${STATUS_CLASS}${status.slice(0, 1)}` : `${STATUS}${status}`;
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//i, '');
}

/** Returns the words of a text, folded, each once, in their order. `pairs` divides a run of an unspaced script. */
function wordsOf(text: string, pairs: (run: string) => readonly string[]): readonly string[] {
  // Unifies compatibility forms, such as full-width letters and ligatures, and removes accents.
  const folded = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC').toLowerCase();
  const words = folded
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap((word) => (UNSPACED.test(word) ? divided(word, pairs) : [word]));
  return [...new Set(words.map((word) => word.slice(0, MAX_WORD_CHARACTERS)).filter((word) => word !== ''))];
}

function divided(word: string, pairs: (run: string) => readonly string[]): readonly string[] {
  return (word.match(UNSPACED_RUN) ?? []).flatMap((run) => (UNSPACED.test(run) ? pairs(run) : [run]));
}

/** Returns characters and pairs, so that single characters can be searched for, too. */
function indexedPairs(run: string): readonly string[] {
  return [...run, ...wantedPairs(run)];
}

function wantedPairs(run: string): readonly string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
