import type { Result } from '../../src/capture/result/result.ts';
import { exampleResult } from '../../test/support/example-result.ts';

/*
 * Results like those of a service that has run for a while: a few hosts have very many captures and most have one or
 * two (Zipf), sites have subdomains, and names start with every letter. The same seed gives the same results.
 */

const DEFAULT_SEED = 20_240_101;
/** Mean number of results per site: 1,000,000 results come from 50,000 sites with some 100,000 hosts. */
const RESULTS_PER_SITE = 20;
const SYLLABLES =
  'ba be bi co cu da de di el en fa fi go ha ho in jo ka ki la li lo ma me mi na no nu or pa pe qu ra re ri sa se so ta te ti to un va ve vi wa we xi ya zo'.split(
    ' ',
  );
const SUBDOMAINS = ['', '', '', '', 'www', 'www', 'www', 'blog', 'shop', 'api', 'docs', 'm', 'news', 'cdn', 'static'];
const SUFFIXES = [
  'com',
  'com',
  'com',
  'com',
  'com',
  'org',
  'org',
  'net',
  'de',
  'co.uk',
  'io',
  'fr',
  'com.au',
  'info',
  'jp',
];
const FIRST_ID = 300_000_000_000_000;
/** Difference between consecutive ids: about one result every 300 ms. */
const IDS_BETWEEN = 1_228_800;

export interface SeededResults {
  /** Each site's host without its subdomain, starting with the host that has the most results. */
  readonly sites: readonly string[];
  /** The results, oldest first. */
  results(): Generator<Result>;
}

export function idInTheMiddle(count: number): number {
  return FIRST_ID + Math.floor(count / 2) * IDS_BETWEEN;
}

export function seededResults(count: number, seed: number = DEFAULT_SEED): SeededResults {
  const random = randomFrom(seed);
  const sites = Array.from({ length: Math.max(20, Math.ceil(count / RESULTS_PER_SITE)) }, (_, at) =>
    siteName(at, random),
  );
  const rank = zipf(sites.length, random);

  function* results(): Generator<Result> {
    for (let at = 0; at < count; at += 1) {
      const site = sites[rank()] ?? '';
      const subdomain = pick(SUBDOMAINS, random);
      yield resultOf(FIRST_ID + at * IDS_BETWEEN, subdomain === '' ? site : `${subdomain}.${site}`, random);
    }
  }

  return { sites, results };
}

/** Returns a seeded random number generator, 0 <= x < 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(from: readonly T[], random: () => number): T {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new RangeError('there is nothing to pick from');
  return one;
}

function siteName(at: number, random: () => number): string {
  const syllables = Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(SYLLABLES, random)).join('');
  return `${syllables}${at % 7 === 0 ? at : ''}.${pick(SUFFIXES, random)}`;
}

/** Returns a generator of ranks from 0, each with a probability inversely proportional to its position. */
function zipf(ranks: number, random: () => number): () => number {
  const sums = new Float64Array(ranks);
  let sum = 0;
  for (let rank = 0; rank < ranks; rank += 1) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let low = 0;
    let high = ranks - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

function resultOf(id: number, host: string, random: () => number): Result {
  return exampleResult(id, {
    host,
    url: `https://${host}/${Math.floor(random() * 50)}/page?q=${Math.floor(random() * 1000)}`,
    title: `What ${host} says of itself on its page`,
    content_length: Math.floor(random() * 100_000),
    duration_ms: 200 + Math.floor(random() * 2000),
    artifacts: { store: 'here', kinds: ['image', 'html'] },
    remote_ip: '192.0.2.1',
  });
}
