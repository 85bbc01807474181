import { Binary } from 'mongodb';
import type { Evidence } from '../../capture/result/evidence.ts';
import { unpackWords } from '../../capture/result/page-words.ts';
import type { DetailedResult, Result } from '../../capture/result/result.ts';
import { spellingsOf } from '../../words/spellings.ts';
import { tokensOf } from '../../words/tokens.ts';
import { hostKeys } from '../records/hosts.ts';
import { asRecord, timeOf } from '../records/record.ts';
import { rareHostTermsOf, termsOf } from '../records/terms.ts';
import { urlKeysOf } from '../records/url-keys.ts';
import { signsOf, wordTermsOf } from '../records/word-terms.ts';

/** A record in MongoDB: its own keys, the id as `_id`, the time as a date, and the fields that the indexes need. */
export interface ResultDocument {
  readonly _id: number;
  readonly probed_at: Date;
  readonly host: string;
  readonly host_reversed: string;
  /** Readable form of the host. Present only where it differs from `host`. */
  readonly host_unicode?: string;
  /** Keys of the URL that was fetched and of the final URL. */
  readonly url_keys: readonly Binary[];
  readonly perception_hash: string | null;
  /** Name of the API key that requested it; left out without a named key. */
  readonly api_key_name?: string | undefined;
  /** Terms of lists with conditions. */
  readonly terms: readonly string[];
  readonly [key: string]: unknown;
}

/** A host with results. */
export interface HostDocument {
  /** The host. */
  readonly _id: string;
  readonly host_reversed: string;
  readonly host_unicode?: string;
  /** Time of its newest result, or later; never earlier. */
  readonly newest: Date;
}

/** The evidence of a result, under the result's id. */
export interface EvidenceDocument {
  readonly _id: number;
  readonly evidence: Evidence;
}

/** The words of the page of a result, under the result's id. */
export interface WordsDocument {
  readonly _id: number;
  /** Time of the capture; see `momentOf`. */
  readonly moment: number;
  /** The words as terms of an index. */
  readonly terms: readonly string[];
  /** The words in their order, in short; see `signsOf`. */
  readonly signs: string;
  /** The packed words. */
  readonly words: string;
}

/** A perception hash that results have. */
export interface PerceptionDocument {
  /** 16 hex digits. */
  readonly _id: string;
  readonly bands: readonly number[];
}

export function documentOf(result: Result): ResultDocument {
  const { id, ...rest } = result;
  const { reversed, unicode } = hostKeys(result.host);
  return {
    _id: id,
    ...rest,
    probed_at: new Date(timeOf(result.probed_at)),
    host_reversed: reversed,
    ...(unicode === null ? {} : { host_unicode: unicode }),
    url_keys: urlKeysOf(result).map((key) => new Binary(key)),
    terms: indexedTermsOf(result),
  };
}

/** Returns the terms of a record in the index of MongoDB, which cannot merge them. */
function indexedTermsOf(result: Result): readonly string[] {
  return [...termsOf(result), ...rareHostTermsOf(result)];
}

export function recordOf(document: ResultDocument): Result {
  const { _id, host_reversed: _reversed, host_unicode: _unicode, url_keys: _keys, terms: _terms, ...rest } = document;
  return asRecord({ id: _id, ...rest, probed_at: document.probed_at.toISOString() });
}

/** Returns the document of the words of a result's page; none without words. */
export function wordsOf(result: Result, packed: string | undefined): readonly WordsDocument[] {
  if (packed === undefined) return [];
  const { text } = unpackWords(packed);
  const tokens = tokensOf(text);
  const words = tokens.map(({ word }) => word);
  const spellings = spellingsOf(text, tokens).map(({ word }) => word);
  return [
    {
      _id: result.id,
      moment: momentOf(timeOf(result.probed_at)),
      terms: wordTermsOf([...words, ...spellings]),
      signs: signsOf(words),
      words: packed,
    },
  ];
}

/** From here on, and in tenths of a second, a time takes 4 bytes in an index until 2030, and then 5. */
const FIRST_MOMENT_MS = Date.UTC(2024, 0, 1);
const MOMENT_MS = 100;

/** Returns the time by which words are in order, as a small integer: a page has hundreds of entries in the index. */
export function momentOf(ms: number): number {
  return Math.floor((ms - FIRST_MOMENT_MS) / MOMENT_MS);
}

/** Returns when a moment begins, in milliseconds since the Unix epoch. */
export function timeOfMoment(moment: number): number {
  return FIRST_MOMENT_MS + moment * MOMENT_MS;
}

/** Returns the document of a result's evidence; none when it has no evidence. */
export function evidenceOf({ id, evidence }: DetailedResult): readonly EvidenceDocument[] {
  return evidence === null ? [] : [{ _id: id, evidence }];
}
