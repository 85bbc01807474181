import type { ResultConditions } from '../../src/capture/finding/result-conditions.ts';
import type { Keyset, ResultFilter } from '../../src/storage/ports/result-store.ts';
import { createRandom, type Random } from '../../test/faults/random.ts';
import { contentWord, randomWord } from './page-texts.ts';
import { anyUrl, pick, rareWord, type SeededResults, WORDS } from './seeded-results.ts';

export interface StoreQuery {
  readonly kind: string;
  readonly filter: ResultFilter;
  /** Where the page begins. @default at the newest result */
  readonly after?: Keyset;
}

/** Makes the filter of a query, by the kind of query. */
type Kinds = Readonly<Record<string, () => ResultFilter>>;

const EACH = 100;
const DAY_MS = 86_400_000;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

const all = (where: ResultConditions): ResultFilter => ({ by: 'all', where });
const on = (host: string, where?: ResultConditions): ResultFilter => ({ by: 'host', host, where });

/**
 * Makes 100 queries of each kind, each again for the page that begins at `middle`, in random order: none benefits from
 * caches that only queries of its kind have filled.
 */
function queriesOf(kinds: Kinds, random: Random, middle?: Keyset): readonly StoreQuery[] {
  return Object.entries(kinds)
    .flatMap(([kind, filter]) => Array.from({ length: EACH }, (): StoreQuery => ({ kind, filter: filter() })))
    .flatMap((query) => (middle ? [query, { ...query, kind: `${query.kind}, half way`, after: middle }] : [query]))
    .map((query) => ({ query, at: random.next() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ query }) => query);
}

/** Returns conditions that a result was made within this time, which ends at most `backMs` before the newest result. */
function within(lengthMs: number, backMs: number, newestMs: number, random: Random): ResultConditions {
  const from = newestMs - random.next() * backMs;
  return { from: new Date(from).toISOString(), to: new Date(from + lengthMs).toISOString() };
}

/**
 * Returns queries by host: sites, subdomains, prefixes of names down to one letter, and hosts without results. Half of
 * the pages begin with the newest result, the others at `middle`.
 */
export function queriesByHost({ sites }: SeededResults, middle: Keyset): readonly StoreQuery[] {
  const random = createRandom(7);
  const site = (from = 0, to = sites.length) => pick(sites.slice(from, Math.max(to, from + 1)), random);
  const kinds: Kinds = {
    'hot site': () => on(site(0, 20)),
    'warm site': () => on(site(100, 1000)),
    'cold site': () => on(site(Math.floor(sites.length / 2))),
    subdomain: () => on(`www.${site(0, 1000)}`),
    'three letters': () => on(site().slice(0, 3)),
    'two letters': () => on(site().slice(0, 2)),
    'one letter': () => on(pick(LETTERS, random)),
    'top level': () => on(pick(['com', 'co.uk', 'de', 'jp', 'org', 'www', 'www.', 'blog.'], random)),
    'no such host': () => on(`${site()}x.invalid`),
  };
  return queriesOf(kinds, random, middle);
}

/** Returns queries with conditions (status, outcome, time, text) of all results, a host or a URL. */
export function queriesWithConditions({ sites }: SeededResults, newestMs: number): readonly StoreQuery[] {
  const random = createRandom(7);
  const word = () => pick(WORDS, random);
  const rare = () => rareWord(random);
  const hot = () => pick(sites.slice(0, 20), random);
  const letter = () => pick(LETTERS.slice(0, 7), random);
  const few = () => pick(['4xx', '5xx'], random);
  const hour = () => within(3_600_000, 3 * DAY_MS, newestMs, random);
  return queriesOf(
    {
      'status of most': () => all({ status: '200' }),
      'class of few': () => all({ status: few() }),
      'rare status': () => all({ status: '418' }),
      'no such status': () => all({ status: '599' }),
      outcome: () => all({ outcome: pick(['stored', 'failed', 'timed_out'] as const, random) }),
      'one hour': () => all(hour()),
      'frequent word': () => all({ text: word() }),
      'rare word': () => all({ text: rare() }),
      'two words': () => all({ text: `${word()} ${word()}` }),
      'frequent and rare word': () => all({ text: `${word()} ${rare()}` }),
      'frequent word, rare status': () => all({ text: word(), status: '418' }),
      'word, outcome, one hour': () => all({ text: word(), outcome: 'failed', ...hour() }),
      'hot host, class of few': () => on(hot(), { status: '4xx' }),
      'hot host, word': () => on(hot(), { text: word() }),
      'one letter, outcome': () => on(letter(), { outcome: 'failed' }),
      'three letters, outcome': () => on(hot().slice(0, 3), { outcome: 'timed_out' }),
      'subdomain, outcome': () => on(`www.${hot()[0]}`, { outcome: 'failed' }),
      'top level, class of few': () => on(pick(['com', 'co.uk', 'de', 'www.', 'blog.'], random), { status: few() }),
      'one letter, rare word': () => on(letter(), { text: rare() }),
      'one letter, frequent word': () => on(letter(), { text: word() }),
      'nine letters, outcome': () => on(`www.${hot().slice(0, 5)}`, { outcome: 'failed' }),
      'URL, outcome': () => ({ by: 'url', url: anyUrl(hot(), random), where: { outcome: 'stored' } }),
    },
    random,
  );
}

/** Returns queries by words of the page, alone and with a host, a status and a week. */
export function queriesByWords({ sites }: SeededResults, newestMs: number): readonly StoreQuery[] {
  const random = createRandom(13);
  const any = () => randomWord(random);
  const content = () => contentWord(random);
  const week = () => ({ ...within(7 * DAY_MS, 14 * DAY_MS, newestMs, random), status: '200' });
  const host = () => sites[Math.floor(random.next() ** 2 * sites.length)] ?? '';
  return queriesOf(
    {
      'two words': () => all({ words: `${any()} ${any()}` }),
      'two words of the content': () => all({ words: `${content()} ${content()}` }),
      'a word, and one of the content': () => all({ words: `${any()} ${content()}` }),
      'two words, host, status, week': () => on(host(), { words: `${any()} ${any()}`, ...week() }),
      'two words, status, week': () => all({ words: `${any()} ${content()}`, ...week() }),
    },
    random,
  );
}

/** Returns queries by words that have no time limit of their own. */
export function otherQueriesByWords(): readonly StoreQuery[] {
  const random = createRandom(17);
  const content = () => contentWord(random);
  return queriesOf(
    {
      'a phrase of two words': () => all({ words: `"${randomWord(random)} ${randomWord(random)}"` }),
      'one word without another': () => all({ words: `${content()} -${randomWord(random)}` }),
      'the beginning of a word': () => all({ words: `${content().slice(0, 5)}*` }),
    },
    random,
  );
}
