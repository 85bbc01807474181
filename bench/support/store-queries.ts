import type { Keyset, ResultFilter } from '../../src/storage/ports/result-store.ts';
import { rareWord, WORDS } from './large-store.ts';
import { contentWord, randomWord } from './page-texts.ts';
import { pick, randomFrom, type SeededResults } from './seeded-results.ts';

export interface StoreQuery {
  readonly kind: string;
  readonly filter: ResultFilter;
  /** Where the page begins. @default at the newest result */
  readonly after?: Keyset;
}

/**
 * Returns queries by host: sites, subdomains, prefixes of names down to one letter, and hosts without results. Half of
 * the pages begin with the newest result, the others at `middle`.
 */
export function queriesByHost({ sites }: SeededResults, middle: Keyset, each: number): readonly StoreQuery[] {
  const random = randomFrom(7);
  const site = (from: number, to: number) => pick(sites.slice(from, Math.max(to, from + 1)), random);
  const kinds: Readonly<Record<string, () => string>> = {
    'hot site': () => site(0, 20),
    'warm site': () => site(100, 1000),
    'cold site': () => site(Math.floor(sites.length / 2), sites.length),
    subdomain: () => `www.${site(0, 1000)}`,
    'three letters': () => site(0, sites.length).slice(0, 3),
    'two letters': () => site(0, sites.length).slice(0, 2),
    'one letter': () => pick([...'abcdefghijklmnopqrstuvwxyz'], random),
    'top level': () => pick(['com', 'co.uk', 'de', 'jp', 'org', 'www', 'www.', 'blog.'], random),
    'no such host': () => `${site(0, sites.length)}x.invalid`,
  };
  const newest = Object.entries(kinds).flatMap(([kind, host]) =>
    Array.from({ length: each }, (): StoreQuery => ({ kind, filter: { by: 'host', host: host() } })),
  );
  const later = newest.map(({ kind, filter }) => ({ kind: `${kind}, half way`, filter, after: middle }));
  return shuffled([...newest, ...later], random);
}

/** Returns queries with conditions (status, outcome, time, text) of all results, a host or a URL. */
export function queriesWithConditions({ sites }: SeededResults, newestMs: number, each: number): readonly StoreQuery[] {
  const random = randomFrom(7);
  const word = () => pick(WORDS, random);
  const hot = () => sites[Math.floor(random() * 20)] ?? '';
  const span = () => {
    const from = newestMs - random() * 3 * 86_400_000;
    return { from: new Date(from).toISOString(), to: new Date(from + 3_600_000).toISOString() };
  };
  const kinds: Readonly<Record<string, () => ResultFilter>> = {
    'status of most': () => ({ by: 'all', where: { status: '200' } }),
    'class of few': () => ({ by: 'all', where: { status: pick(['4xx', '5xx'], random) } }),
    'rare status': () => ({ by: 'all', where: { status: '418' } }),
    'no such status': () => ({ by: 'all', where: { status: '599' } }),
    outcome: () => ({ by: 'all', where: { outcome: pick(['stored', 'failed', 'timed_out'] as const, random) } }),
    'one hour': () => ({ by: 'all', where: span() }),
    'frequent word': () => ({ by: 'all', where: { text: word() } }),
    'rare word': () => ({ by: 'all', where: { text: rareWord(random) } }),
    'two words': () => ({ by: 'all', where: { text: `${word()} ${word()}` } }),
    'frequent and rare word': () => ({ by: 'all', where: { text: `${word()} ${rareWord(random)}` } }),
    'frequent word, rare status': () => ({ by: 'all', where: { text: word(), status: '418' } }),
    'word, outcome, one hour': () => ({ by: 'all', where: { text: word(), outcome: 'failed', ...span() } }),
    'hot host, class of few': () => ({ by: 'host', host: hot(), where: { status: '4xx' } }),
    'hot host, word': () => ({ by: 'host', host: hot(), where: { text: word() } }),
    'one letter, outcome': () => ({ by: 'host', host: pick([...'abcdefg'], random), where: { outcome: 'failed' } }),
    'three letters, outcome': () => ({ by: 'host', host: hot().slice(0, 3), where: { outcome: 'timed_out' } }),
    'subdomain, outcome': () => ({ by: 'host', host: `www.${hot()[0]}`, where: { outcome: 'failed' } }),
    'top level, class of few': () => ({
      by: 'host',
      host: pick(['com', 'co.uk', 'de', 'www.', 'blog.'], random),
      where: { status: pick(['4xx', '5xx'], random) },
    }),
    'one letter, rare word': () => ({
      by: 'host',
      host: pick([...'abcdefg'], random),
      where: { text: rareWord(random) },
    }),
    'one letter, frequent word': () => ({ by: 'host', host: pick([...'abcdefg'], random), where: { text: word() } }),
    'nine letters, outcome': () => ({ by: 'host', host: `www.${hot().slice(0, 5)}`, where: { outcome: 'failed' } }),
    'URL, outcome': () => ({
      by: 'url',
      url: `https://${hot()}/${Math.floor(random() * 50)}/page?q=${Math.floor(random() * 1000)}`,
      where: { outcome: 'stored' },
    }),
  };
  const queries = Object.entries(kinds).flatMap(([kind, filter]) =>
    Array.from({ length: each }, () => ({ kind, filter: filter() })),
  );
  return shuffled(queries, random);
}

/** Returns queries by words of the page, alone and with a host, a status and a week. */
export function queriesByWords({ sites }: SeededResults, newestMs: number, each: number): readonly StoreQuery[] {
  const random = randomFrom(13);
  const any = () => randomWord(random);
  const content = () => contentWord(random);
  const week = () => {
    const from = newestMs - random() * 14 * 86_400_000;
    return { from: new Date(from).toISOString(), to: new Date(from + 7 * 86_400_000).toISOString(), status: '200' };
  };
  const host = () => sites[Math.floor(random() ** 2 * sites.length)] ?? '';
  const kinds: Readonly<Record<string, () => ResultFilter>> = {
    'two words': () => ({ by: 'all', where: { words: `${any()} ${any()}` } }),
    'two words of the content': () => ({ by: 'all', where: { words: `${content()} ${content()}` } }),
    'a word, and one of the content': () => ({ by: 'all', where: { words: `${any()} ${content()}` } }),
    'two words, host, status, week': () => ({
      by: 'host',
      host: host(),
      where: { words: `${any()} ${any()}`, ...week() },
    }),
    'two words, status, week': () => ({ by: 'all', where: { words: `${any()} ${content()}`, ...week() } }),
  };
  const queries = Object.entries(kinds).flatMap(([kind, filter]) =>
    Array.from({ length: each }, () => ({ kind, filter: filter() })),
  );
  return shuffled(queries, random);
}

/** Returns queries by words that have no time limit of their own. */
export function otherQueriesByWords(each: number): readonly StoreQuery[] {
  const random = randomFrom(17);
  const content = () => contentWord(random);
  const kinds: Readonly<Record<string, () => string>> = {
    'a phrase of two words': () => `"${randomWord(random)} ${randomWord(random)}"`,
    'one word without another': () => `${content()} -${randomWord(random)}`,
    'the beginning of a word': () => `${content().slice(0, 5)}*`,
  };
  return Object.entries(kinds).flatMap(([kind, words]) =>
    Array.from({ length: each }, (): StoreQuery => ({ kind, filter: { by: 'all', where: { words: words() } } })),
  );
}

/** So no kind of query benefits from caches that only queries of its kind have filled. */
function shuffled(queries: readonly StoreQuery[], random: () => number): readonly StoreQuery[] {
  return queries
    .map((query) => ({ query, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ query }) => query);
}
