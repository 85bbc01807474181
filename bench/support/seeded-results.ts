import type { Result } from '../../src/capture/result/result.ts';
import { createRandom, type Random } from '../../test/faults/random.ts';
import { exampleResult } from '../../test/support/example-result.ts';

/*
 * Results like those of a service that has run for a while: a few hosts have very many captures and most have one or
 * two (Zipf), sites have subdomains, and names start with every letter. Each run makes the same results.
 */

const SEED = 20_240_101;
/** Mean number of results per site: 1,000,000 results come from 50,000 sites with some 100,000 hosts. */
const RESULTS_PER_SITE = 20;
const SYLLABLES =
  'ba be bi co cu da de di el en fa fi go ha ho in jo ka ki la li lo ma me mi na no nu or pa pe qu ra re ri sa se so ta te ti to un va ve vi wa we xi ya zo'.split(
    ' ',
  );
const SUBDOMAINS = 'www. www. www. blog. shop. api. docs. m. news. cdn. static.'.split(' ').concat('', '', '', '');
const SUFFIXES = 'com com com com com org org net de co.uk io fr com.au info jp'.split(' ');
/** Each title has three of these words, and one word that 1 in 10,000 titles has. Half of the titles have `price`. */
export const WORDS = 'price list of the new product page about contact help store guide news report index'.split(' ');

const FIRST_ID = 300_000_000_000_000;
/** Difference between consecutive ids: about one result every 300 ms. */
const IDS_BETWEEN = 1_228_800;

export interface SeededResults {
  readonly count: number;
  /** Each site's host without its subdomain, starting with the host that has the most results. */
  readonly sites: readonly string[];
  /** Returns a part of the results, oldest first, with words, statuses and outcomes. */
  results(from: number, to: number): readonly Result[];
}

export function idInTheMiddle(count: number): number {
  return FIRST_ID + Math.floor(count / 2) * IDS_BETWEEN;
}

export function seededResults(count: number): SeededResults {
  const random = createRandom(SEED);
  const sites = Array.from({ length: Math.max(20, Math.ceil(count / RESULTS_PER_SITE)) }, (_, at) => {
    const syllables = Array.from({ length: random.integer(2, 4) }, () => pick(SYLLABLES, random));
    return `${syllables.join('')}${at % 7 === 0 ? at : ''}.${pick(SUFFIXES, random)}`;
  });
  return {
    count,
    sites,
    results(from, to) {
      const random = createRandom(SEED + from);
      return Array.from({ length: to - from }, (_, at) => {
        // About as often as the inverse of its position.
        const site = sites[Math.floor((sites.length + 1) ** random.next()) - 1] ?? '';
        return resultOf(FIRST_ID + (from + at) * IDS_BETWEEN, pick(SUBDOMAINS, random) + site, random);
      });
    },
  };
}

export function pick<T>(from: readonly T[], random: Random): T {
  const one = from[random.integer(0, from.length - 1)];
  if (one === undefined) throw new RangeError('there is nothing to pick from');
  return one;
}

export const rareWord = (random: Random): string => `model${random.integer(0, 9_999)}`;

/** Returns the URL of one of the pages that each host has. */
export function anyUrl(host: string, random: Random): string {
  return `https://${host}/${random.integer(0, 49)}/page?q=${random.integer(0, 999)}`;
}

function resultOf(id: number, host: string, random: Random): Result {
  const word = () => WORDS[Math.floor(WORDS.length * random.next() ** 2)] ?? '';
  const chance = random.next();
  const failed = chance < 0.03;
  const status = failed ? 0 : chance < 0.08 ? 404 : chance < 0.09 ? 500 : chance < 0.0901 ? 418 : 200;
  const code = random.next() < 0.3 ? 'capture_timeout' : 'target_unreachable';
  return exampleResult(id, {
    host,
    url: anyUrl(host, random),
    title: `${word()} ${word()} ${word()} ${rareWord(random)}`,
    response_code: status,
    failed,
    failed_code: failed ? code : '',
    content_length: random.integer(0, 99_999),
    duration_ms: random.integer(200, 2199),
    artifacts: { store: 'here', kinds: ['image', 'html'] },
    remote_ip: '192.0.2.1',
  });
}
