import type { ResultConditions } from '../../capture/finding/result-conditions.ts';
import { outcomeOf, type RecordedOutcome } from '../../capture/result/recorded-outcome.ts';
import type { Result } from '../../capture/result/result.ts';
import type { VerdictName } from '../../capture/result/verdict.ts';
import { pairsOf, wordsOf } from '../../words/tokens.ts';
import { type ChoiceCondition, type HostCondition, hostFactTermsOf, wantedHostTerms } from './host-terms.ts';
import { type HostKey, type HostKeys, type HostRange, hostKeys } from './hosts.ts';

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
const HOST_KEYS: Readonly<Record<HostKey, string>> = { host: '\uE005', reversed: '\uE006', unicode: '\uE007' };
const API_KEY = '\uE008';
const OPTION = '\uE009';
const VERDICT = '\uE00A';
const SCAN = '\uE030';
const LABEL = '\uE020';
const HELD = '\uE021';

/** Maximum number of words per text, because a URL of 8192 characters has many. */
const MAX_WORDS = 200;
/**
 * Bytes of a URL's key in its term. Few, because the index holds each of them; the full URLs of matching records are
 * compared.
 */
const URL_KEY_BYTES = 5;
/** Maximum length of an indexed prefix of a host, in characters. Longer prefixes have few hosts. */
const MAX_PREFIX = 8;
/** Maximum length of an option's value that can be asked for. */
const MAX_OPTION_CHARACTERS = 100;
/** Maximum number of parent domains per host. */
const MAX_PARENTS = 6;

/** The fields of a record that its terms are made of. */
type Termed = Pick<
  Result,
  | 'title'
  | 'url'
  | 'final_url'
  | 'api_key_name'
  | 'response_code'
  | 'verdict'
  | 'failed'
  | 'failed_code'
  | 'options'
  | 'options_withheld'
  | 'scan'
  | 'labels'
  | 'hold'
  | 'remote_ip'
  | 'host_facts'
>;

/** Returns the terms of a record, each once. */
export function termsOf(record: Termed): readonly string[] {
  const { title, url, final_url, api_key_name: key } = record;
  const words = wordsOf(`${title} ${withoutScheme(url)} ${withoutScheme(final_url)}`, indexedPairs);
  return [
    outcomeTerm(outcomeOf(record)),
    ...statusTerms(record),
    ...(record.verdict === null ? [] : [verdictTerm(record.verdict)]),
    ...(key === undefined ? [] : [apiKeyTerm(key)]),
    ...(record.scan === undefined ? [] : [scanTerm(record.scan)]),
    ...optionTerms(record),
    ...labelTerms(record.labels),
    ...(record.hold === null ? [] : [HELD]),
    ...hostFactTermsOf(record),
    ...words.slice(0, MAX_WORDS),
  ];
}

function statusTerms({ response_code }: Pick<Result, 'response_code'>): readonly string[] {
  const statusClass = Math.floor(response_code / 100);
  return [`${STATUS}${response_code}`, ...(statusClass > 0 ? [`${STATUS_CLASS}${statusClass}`] : [])];
}

/**
 * Conditions that are looked up by terms which a record must all have: all except the times, choices of terms, and the
 * words of the page, which have an index.
 */
export type TermCondition = Exclude<keyof ResultConditions, 'from' | 'to' | 'words' | ChoiceCondition>;

/** Returns the terms that a record must have to meet these conditions, and to belong to a key. */
export function wantedTerms(conditions: ResultConditions, ofKey?: string): readonly string[] {
  const { status, outcome, verdict, text, option, scan, label, held } = conditions;
  const terms: Record<Exclude<TermCondition, HostCondition>, readonly string[] | undefined> = {
    text: text === undefined ? undefined : wordsOf(text, pairsOf),
    status: status === undefined ? undefined : [statusTerm(status)],
    outcome: outcome === undefined ? undefined : [outcomeTerm(outcome)],
    verdict: verdict === undefined ? undefined : [verdictTerm(verdict)],
    option: option?.map(({ name, value }) => optionTerm(name, value)),
    scan: scan === undefined ? undefined : [scanTerm(scan)],
    label: label && labelTerms(label),
    held: held && [HELD],
  };
  return [
    ...(ofKey === undefined ? [] : [apiKeyTerm(ofKey)]),
    ...Object.values(terms).flatMap((found) => found ?? []),
    ...wantedHostTerms(conditions),
  ];
}

/** Returns a term for each option, and one for each value that is short enough to be asked for. */
function optionTerms({ options, options_withheld }: Pick<Result, 'options' | 'options_withheld'>): readonly string[] {
  const valued = Object.entries(options).filter(
    ([, value]) => typeof value !== 'object' && String(value).length <= MAX_OPTION_CHARACTERS,
  );
  return [
    ...[...Object.keys(options), ...options_withheld].map((name) => optionTerm(name)),
    ...valued.map(([name, value]) => optionTerm(name, String(value))),
  ];
}

/** Returns the term of a scan: its id has no separators of words but these. */
function scanTerm(id: string): string {
  return `${SCAN}${id.toLowerCase().replaceAll(/[.-]/g, '')}`;
}

/** Returns the term of an option: in hexadecimal, as that of an API key. The value's case does not matter. */
function optionTerm(name: string, value?: string): string {
  const text = value === undefined ? name : `${name}=${value.toLowerCase()}`;
  return `${OPTION}${Buffer.from(text).toString('hex')}`;
}

/** Returns the terms of labels: in hexadecimal, as that of an API key. */
export function labelTerms(labels: readonly string[]): readonly string[] {
  return labels.map((label) => `${LABEL}${Buffer.from(label).toString('hex')}`);
}

/** Returns the terms of a host: its short prefixes, and its parent domains. */
export function hostTermsOf(host: string): readonly string[] {
  const keys = hostKeys(host);
  return [
    ...prefixesOf(keys.host).map((prefix) => hostKeyTerm('host', prefix)),
    ...parentsOf(keys).map((parent) => hostKeyTerm('reversed', parent)),
    ...prefixesOf(keys.unicode ?? '').map((prefix) => hostKeyTerm('unicode', prefix)),
  ];
}

/**
 * Returns the terms of a record that combine a rare fact (a failure, a status other than 2xx) with a term of its host,
 * for a database that cannot merge terms. Few records have any.
 */
export function rareHostTermsOf(record: Result): readonly string[] {
  const ofHost = hostTermsOf(record.host);
  return rareFacts(record).flatMap((fact) => ofHost.map((term) => `${fact}${term}`));
}

/**
 * Returns terms of which each record that meets the conditions, and has a host in the ranges, has at least one.
 * Undefined when no condition is about a rare fact.
 */
export function wantedRareHostTerms(
  { status, outcome }: ResultConditions,
  ranges: readonly HostRange[],
): readonly string[] | undefined {
  const fact =
    outcome !== undefined && outcome !== 'stored'
      ? outcomeTerm(outcome)
      : status !== undefined && !status.startsWith('2')
        ? statusTerm(status)
        : undefined;
  const ofRanges = ranges.map(rangeTerm).filter((term) => term !== undefined);
  if (fact === undefined || ofRanges.length < ranges.length) return undefined;
  return ofRanges.map(({ term }) => `${fact}${term}`);
}

function rareFacts(record: Result): readonly string[] {
  const outcome = outcomeOf(record);
  const statusClass = Math.floor(record.response_code / 100);
  return [...(outcome === 'stored' ? [] : [outcomeTerm(outcome)]), ...(statusClass === 2 ? [] : statusTerms(record))];
}

/**
 * Returns a term of every host in the range. `isExact`: only hosts in the range have it. Undefined when the hosts of
 * the range have no common term.
 */
export function rangeTerm({
  key,
  prefix,
}: HostRange): { readonly term: string; readonly isExact: boolean } | undefined {
  const indexed = key === 'reversed' ? parentsOf({ reversed: prefix }).at(-1) : prefixesOf(prefix).at(-1);
  if (indexed === undefined) return undefined;
  return { term: hostKeyTerm(key, indexed), isExact: indexed === prefix };
}

function prefixesOf(text: string): readonly string[] {
  const characters = [...text].slice(0, MAX_PREFIX);
  return characters.map((_, at) => characters.slice(0, at + 1).join(''));
}

/** Returns the parent domains of a host and itself, label-reversed, shortest first. */
function parentsOf({ reversed }: Pick<HostKeys, 'reversed'>): readonly string[] {
  const labels = reversed.split('.').slice(0, -1).slice(0, MAX_PARENTS);
  return labels.map((_, at) => `${labels.slice(0, at + 1).join('.')}.`);
}

/** Returns the term of a key's beginning. Separators of words are written as other characters. */
function hostKeyTerm(key: HostKey, text: string): string {
  return `${HOST_KEYS[key]}${text.replaceAll(/[^a-z0-9\u0080-\u{10FFFF}]/gu, escaped)}`;
}

/** Returns a private-use character in place of an ASCII character that is neither a letter nor a digit. */
function escaped(character: string): string {
  return String.fromCharCode(0xe100 + character.charCodeAt(0));
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

function verdictTerm(verdict: VerdictName): string {
  return `${VERDICT}${verdict.replaceAll('_', '')}`;
}

/** Returns the term of an API key's name: in hexadecimal, because terms ignore case and end at punctuation. */
function apiKeyTerm(name: string): string {
  return `${API_KEY}${Buffer.from(name).toString('hex')}`;
}

function statusTerm(status: string): string {
  return status.endsWith('xx') ? `${STATUS_CLASS}${status.slice(0, 1)}` : `${STATUS}${status}`;
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//i, '');
}

/** Returns characters and pairs, so that single characters can be searched for, too. */
function indexedPairs(run: string): readonly string[] {
  return [...run, ...pairsOf(run)];
}
