import { packWords } from '../../src/capture/result/page-words.ts';
import type { Random } from '../../test/faults/random.ts';
import { pick } from './seeded-results.ts';

/*
 * Texts of pages: 400 words, as frequent and as long as those of real pages. In 16,000 texts of 400 words of the
 * documentation of npm packages and Debian, a text had 2,850 bytes and 181 different words.
 */

const LINES_OF_PAGE = 50;
const WORDS_OF_LINE = 8;
const VOCABULARY = 100_000;
/** Exponent of Zipf's law, with which a text has as many different words as a real one. */
const EXPONENT = 1.2;
const SYLLABLES =
  'ba ne ri to ca de lu mi no pe qua re sta ti un ver wo xi ya zo fer ment ing ol th st ar en or an in es ra el le'.split(
    ' ',
  );

/** Makes a word by its rank; frequent ones are short. */
function makeWord(rank: number): string {
  let word = '';
  for (let left = rank; left > 0 || word === ''; left = Math.floor(left / SYLLABLES.length)) {
    word += SYLLABLES[left % SYLLABLES.length];
  }
  const ending = (factor: number) => SYLLABLES[(rank * factor) % SYLLABLES.length];
  return word + (rank > 30 ? ending(7) : '') + (rank > 300 ? `${ending(11)}${ending(13)}` : '');
}

/** The vocabulary by rank. */
const RANKED = Array.from({ length: VOCABULARY }, (_, rank) => makeWord(rank));
const wordOf = (rank: number): string => RANKED[rank] ?? '';

/** Returns a word as often as pages use it. */
export function randomWord(random: Random): string {
  const power = 1 - EXPONENT;
  return wordOf(Math.floor((1 - random.next() * (1 - VOCABULARY ** power)) ** (1 / power)) - 1);
}

/** A word that a page in a hundred to a page in ten thousand has. */
export const contentWord = (random: Random): string => wordOf(200 + random.integer(0, 19_999));

export function randomText(random: Random): string {
  const line = () => Array.from({ length: WORDS_OF_LINE }, () => randomWord(random)).join(' ');
  return Array.from({ length: LINES_OF_PAGE }, () => line() + pick(['.', ',', ''], random)).join('\n');
}

/** Returns the packed words of a page, with a place for each line. */
export function packedText(text: string): string {
  let start = 0;
  const places = text.split('\n').map((line, at) => {
    const place = [start, 24, 40 + at * 24, line.length * 8, 20] as const;
    start += line.length + 1;
    return place;
  });
  return packWords({ text, places });
}
