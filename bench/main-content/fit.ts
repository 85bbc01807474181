/*
 * Fits the trees of src/page-scripts/main-content/trees.ts:
 *   node bench/main-content/fit.ts <pages folder> <browser> [<file that keeps the runs of the pages>]
 * Prints the scores of pages that the trees were not fitted on (five folds), and upper bounds: of all runs, of the runs
 * that are mostly in the known main content, and of the best number of runs in the order of the trees.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DESCRIBED_ODDS, ELSEWHERE_FACTOR, MIN_COPIED_WORDS } from '../../src/page-scripts/main-content/chance.ts';
import { SIGN_NAMES } from '../../src/page-scripts/main-content/sign-names.ts';
import { boost, chanceOf, type Model } from './boost.ts';
import { labelRuns } from './label-runs.ts';
import { PagesOfRuns, readRuns } from './read-runs.ts';
import { countWords, mean, type Score, scoreOf, Truth, wordsOf } from './score.ts';

const FOLDS = 5;
const TARGET = join(import.meta.dirname, '../../src/page-scripts/main-content/trees.ts');

interface Page {
  readonly fold: number;
  readonly runs: PagesOfRuns[string];
  readonly labels: readonly number[];
  readonly truth: Truth;
}

const [folder = '', browserPath = '', kept = ''] = process.argv.slice(2);
const runs = existsSync(kept)
  ? PagesOfRuns.parse(JSON.parse(await readFile(kept, 'utf8')))
  : await readRuns(folder, browserPath);
if (kept !== '') await writeFile(kept, JSON.stringify(runs));

const pages: Page[] = [];
for (const [name, found] of Object.entries(runs).toSorted()) {
  const truth = Truth.parse(JSON.parse(await readFile(join(folder, 'truth', `${name}.json`), 'utf8')));
  const fold = pages.filter((page) => page.truth.type === truth.type).length % FOLDS;
  const texts = found.map(({ text }) => text);
  pages.push({ fold, runs: found, labels: labelRuns(texts, truth.main), truth });
}

const scores: Score[] = [];
const bestCounts: Score[] = [];
for (let fold = 0; fold < FOLDS; fold += 1) {
  const model = fitted(pages.filter((page) => page.fold !== fold));
  for (const page of pages.filter((each) => each.fold === fold)) {
    const order = ranked(page, model);
    scores.push(scoreOf(chosenText(order), page.truth));
    bestCounts.push(bestCount(order, page.truth));
  }
}
print('', scores);
print('bound, best number of runs, ', bestCounts);
const withShare = (share: number) =>
  pages.map(({ runs: all, labels, truth }) =>
    scoreOf(textOf(all.filter((_, at) => (labels[at] ?? 0) >= share)), truth),
  );
print('bound, runs that are mostly main content, ', withShare(0.5));
print('all runs, ', withShare(0));

const { base, trees } = fitted(pages);
await writeFile(
  TARGET,
  `/*
 * Written by bench/main-content/fit.ts. The sum of the trees is the logarithm of the odds that a run is main content. Each
 * tree has the sign and threshold of its seven splits, then the values of its eight leaves.
 */
export const BASE = ${base};
export const TREES = [
${trees.map((tree) => `  '${tree.join(',')}',`).join('\n')}
] as const;
`,
);

/** Fits the model; each page counts the same, and each run of a page as its share of the words. */
function fitted(some: readonly Page[]): Model {
  const samples = some.flatMap(({ runs: all, labels }) => {
    const sizes = all.map(({ text }) => wordsOf(text).length + 0.3);
    const whole = sizes.reduce((sum, size) => sum + size, 0);
    return all.map(({ signs }, at) => ({ signs, label: labels[at] ?? 0, weight: (30 * (sizes[at] ?? 0)) / whole }));
  });
  return boost({
    signs: samples.map(({ signs }) => signs),
    labels: samples.map(({ label }) => label),
    weights: samples.map(({ weight }) => weight),
  });
}

function leadsElsewhere(signs: readonly number[]): boolean {
  const sign = (name: (typeof SIGN_NAMES)[number]) => signs[SIGN_NAMES.indexOf(name)] ?? 0;
  return sign('isElsewhere') === 1 && sign('headingLinked') >= 0.5;
}

function furtherOdds(described: boolean | undefined): number {
  if (described === undefined) return 0;
  return described ? DESCRIBED_ODDS : -DESCRIBED_ODDS;
}

/** The runs of a page with their probabilities, the likeliest first. */
function ranked({ runs: all }: Page, model: Model) {
  return all
    .map((run, at) => ({
      ...run,
      at,
      words: wordsOf(run.text).length,
      chance:
        chanceOf(model, run.signs, furtherOdds(run.described)) * (leadsElsewhere(run.signs) ? ELSEWHERE_FACTOR : 1),
    }))
    .toSorted((one, other) => other.chance - one.chance);
}

type Ranked = ReturnType<typeof ranked>;

/** Takes the runs with which the expected F1 is highest, and one copy of each text, as `chosenRuns` does. */
function chosenText(order: Ranked): string {
  const expected = order.reduce((sum, { words, chance }) => sum + words * chance, 0);
  let [found, taken, best, count] = [0, 0, 0, 0];
  for (const [before, { words, chance }] of order.entries()) {
    found += words * chance;
    taken += words;
    const f1 = (2 * found) / (taken + expected);
    if (f1 >= best) [best, count] = [f1, before + 1];
  }
  const paths = new Map<string, number>();
  return textOf(
    order.slice(0, count).filter(({ text, words, level, path }) => {
      if (words < MIN_COPIED_WORDS || level > 0 || path === undefined) return true;
      if (!paths.has(text)) paths.set(text, path);
      return paths.get(text) === path;
    }),
  );
}

/** Returns the score with the number of runs that gives the highest F1, in the order of the model. */
function bestCount(order: Ranked, truth: Truth): Score {
  const wanted = countWords(truth.main);
  const total = wanted.values().reduce((sum, each) => sum + each, 0);
  let [common, taken, best, count] = [0, 0, 0, 0];
  for (const [before, { text }] of order.entries()) {
    for (const word of wordsOf(text)) {
      const left = wanted.get(word) ?? 0;
      if (left > 0) common += 1;
      wanted.set(word, left - 1);
      taken += 1;
    }
    const f1 = (2 * common) / (taken + total);
    if (f1 >= best) [best, count] = [f1, before + 1];
  }
  return scoreOf(textOf(order.slice(0, count)), truth);
}

/** Returns the text of runs, in their order in the page when they have one. */
function textOf(some: readonly { readonly text: string; readonly at?: number }[]): string {
  return some
    .toSorted((one, other) => (one.at ?? 0) - (other.at ?? 0))
    .map(({ text }) => text)
    .join('\n');
}

function print(what: string, all: readonly Score[]): void {
  for (const kind of ['all', ...new Set(all.map(({ type }) => type).toSorted())]) {
    const some = all.filter(({ type }) => kind === 'all' || type === kind);
    const [f1, found, leaks] = [mean(some, 'f1'), mean(some, 'with'), mean(some, 'without')];
    console.log(`${what}${kind}: F1 ${f1.toFixed(3)}, with ${found.toFixed(3)}, leaks ${leaks.toFixed(3)}`);
  }
}
