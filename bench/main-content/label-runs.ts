import { countWords, wordsOf } from './score.ts';

/** Minimum number of words by which a run is distinguished from others with the same words. */
const MIN_TELLING = 5;
/** Number of runs on each side that decide whether a short run is in the main content. */
const NEARBY = 8;

/**
 * Returns, for each run of a page, the share of its words that are in the known main content. Each word of
 * the main content is assigned once: of runs with the same few words, those near its longer runs come first.
 */
export function labelRuns(texts: readonly string[], main: string): readonly number[] {
  const left = countWords(main);
  const whole = ` ${wordsOf(main).join(' ')} `;
  const runs = texts.map((text) => {
    const words = wordsOf(text);
    return { words, counts: countWords(text), isThere: whole.includes(` ${words.join(' ')} `) };
  });
  const shares = texts.map(() => 0);
  const take = (at: number) => {
    const { words, counts } = runs[at] ?? { words: [], counts: new Map() };
    const found = [...counts].map(([word, count]) => [word, Math.min(count, left.get(word) ?? 0)] as const);
    const share = found.reduce((sum, [, count]) => sum + count, 0) / Math.max(1, words.length);
    if (share >= 0.5) for (const [word, count] of found) left.set(word, (left.get(word) ?? 0) - count);
    shares[at] = share;
  };
  const places = [...runs.keys()];
  const lengthOf = (at: number) => runs[at]?.words.length ?? 0;
  const isThere = (at: number) => (runs[at]?.isThere === true ? 1 : 0);
  const isTelling = (at: number) => lengthOf(at) >= MIN_TELLING;
  places
    .filter(isTelling)
    .toSorted((one, other) => isThere(other) - isThere(one) || lengthOf(other) - lengthOf(one))
    .forEach(take);

  const density = places.map((at) => {
    let [found, all] = [0, 1e-9];
    for (let each = Math.max(0, at - NEARBY); each <= Math.min(runs.length - 1, at + NEARBY); each += 1) {
      if (!isTelling(each)) continue;
      const weight = lengthOf(each) / (1 + Math.abs(at - each));
      all += weight;
      if ((shares[each] ?? 0) >= 0.5) found += weight;
    }
    return found / all;
  });
  for (const at of places
    .filter((each) => !isTelling(each) && lengthOf(each) > 0)
    .toSorted((one, other) => isThere(other) - isThere(one) || (density[other] ?? 0) - (density[one] ?? 0))) {
    take(at);
    if (isThere(at) === 0 && (shares[at] ?? 0) < 1) shares[at] = 0;
  }
  return shares;
}
