import { SIGN_NAMES } from './sign-names.ts';
import { BASE, TREES } from './trees.ts';

/* Decides whether a run of text is main content, as far as `bench/main-content` fits that and needs no page. */

/** Factor for the probability of runs that are mostly links, under a heading such as "Related". */
const ELSEWHERE_FACTOR = 0.5;
/**
 * Added to the logarithm of the odds of runs in the announced description of a product, and taken from that of all
 * others. Measured in five folds: the F1 of products is 0.631 with 1.5, 0.656 with 2, 0.646 with 2.5.
 */
const DESCRIBED_ODDS = 2;
/** Maximum of that logarithm for the others. Measured: the F1 of such pages rises from 0.762 to 0.775 in five folds. */
const MAX_ODDS_BESIDE = -0.5;
/** Minimum number of words of a run that is left out when its text is selected elsewhere. */
export const MIN_COPIED_WORDS = 5;
/** Number of splits on the way to a leaf of a tree, and of all splits of a tree. */
const DEPTH = 4;
const SPLITS = 2 ** DEPTH - 1;

/**
 * Returns the probabilities of runs with these signs, in the order of `SIGN_NAMES`. `described`: whether each run is in
 * the description of the product that the page announces.
 */
export function chancesOf(signs: readonly (readonly number[])[], described: readonly boolean[] | undefined): number[] {
  // JSON is read faster than texts are split.
  const trees: readonly (readonly number[])[] = JSON.parse(`[[${TREES.join('],[')}]]`);
  const [isElsewhere, headingLinked] = [SIGN_NAMES.indexOf('isElsewhere'), SIGN_NAMES.indexOf('headingLinked')];
  return signs.map((values, at) => {
    let odds = BASE;
    for (const tree of trees) odds += leafOf(tree, values);
    if (described !== undefined)
      odds = described[at] ? odds + DESCRIBED_ODDS : Math.min(odds - DESCRIBED_ODDS, MAX_ODDS_BESIDE);
    const leadsElsewhere = values[isElsewhere] === 1 && (values[headingLinked] ?? Number.NaN) >= 0.5;
    return (leadsElsewhere ? ELSEWHERE_FACTOR : 1) / (1 + Math.exp(-odds));
  });
}

function leafOf(tree: readonly number[], values: readonly number[]): number {
  let node = 0;
  for (let depth = 0; depth < DEPTH; depth += 1) {
    const value = values[tree[2 * node] ?? 0] ?? Number.NaN;
    node = 2 * node + (value >= (tree[2 * node + 1] ?? 0) ? 2 : 1);
  }
  return tree[SPLITS + node] ?? 0;
}
