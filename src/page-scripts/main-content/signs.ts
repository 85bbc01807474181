import { nameOf, type PageElement } from '../dom/dom.ts';
import { type Section, sectionsOf, titleOfRuns } from './headings.ts';
import { type Kind, type Path, pathsOf, siblingsOf } from './kinds.ts';
import type { Run } from './runs.ts';
import { selectedRuns } from './selected-runs.ts';
import { SIGN_NAMES } from './sign-names.ts';
import { Sums } from './sums.ts';
import { isBoilerplate, isOfControls, isOfReviews, leadsElsewhere, wordsOf } from './wording.ts';

type Signs = Readonly<Record<(typeof SIGN_NAMES)[number], number>>;

/** Maximum number of words of a button or legal notice, and of characters of a heading that describes its section. */
const MAX_CONTROL_WORDS = 30;
const MAX_HEADING_CHARACTERS = 60;
/** Counts for `sinceHeading` where no heading is before a run: that of 400 runs. */
const NO_HEADING = 6;
/** Number of runs on each side that count as nearby. */
const NEARBY = 10;
/** Minimum number of siblings of the same kind that are a repetition. */
const MIN_REPEATED = 3;

const log = Math.log1p;
const asNumber = (is: boolean): number => (is ? 1 : 0);

/**
 * Returns the signs of the runs of a body in the order of `SIGN_NAMES`. `extracted`: the runs of the main content that
 * a library found. Counts are logarithms.
 */
export function signsOf(runs: readonly Run[], body: PageElement, extracted: readonly Run[], title: string): number[][] {
  const taken = selectedRuns(runs, extracted);
  const sums = new Sums(runs, body, taken);
  const paths = pathsOf(runs, body, taken);
  const sections = sectionsOf(runs);
  const extractedSigns = signsOfExtracted(runs, body, sums, taken);
  const repeatedSigns = signsOfRepetitions(sums);
  const textSigns = signsOfText(runs, title);
  const placeSigns = signsOfPlace(runs, sums);
  const nearSigns = signsOfNeighbours(runs);
  return runs.flatMap((run, at) => {
    const [section, path] = [sections[at], paths[at]];
    if (section === undefined || path === undefined) return [];
    const signs: Signs = {
      ...extractedSigns(run, at, path, section),
      ...signsOfPath(path, sums),
      ...repeatedSigns(run),
      ...nearSigns(at, section),
      ...placeSigns(run, at),
      ...textSigns(run, at),
      ...signsOfHeadings(at, section),
    };
    return [SIGN_NAMES.map((name) => signs[name])];
  });
}

function signsOfExtracted(runs: readonly Run[], body: PageElement, sums: Sums, taken: ReadonlySet<number>) {
  const ofTaken = sums.pathTo('taken', 0.8);
  const ofLong = sums.pathTo('long', 0.85);
  const [aroundTaken, aroundLong] = [new Set(ofTaken), new Set(ofLong)];
  const joinOf = (run: Run, path: ReadonlySet<PageElement>) => run.around.find((each) => path.has(each)) ?? body;
  const shareOf = (element: PageElement) => (sums.of(element)?.characters ?? 0) / sums.whole.characters;
  const words = totals(runs, (run) => run.words);
  const takenWords = totals(runs, (run, at) => (taken.has(at) ? run.words : 0));
  return (run: Run, at: number, path: Path, { start, end }: Section) => {
    const [from, to] = nearby(at, runs.length);
    const join = joinOf(run, aroundTaken);
    return {
      extracted: asNumber(taken.has(at)),
      pathExtracted: path.taken / path.runs,
      headingExtracted: takenWords(start, end) / words(start, end),
      nearbyExtracted: takenWords(from, to) / words(from, to),
      isInExtracted: asNumber(join === ofTaken.at(-1)),
      extractedShare: shareOf(join),
      paragraphsShare: shareOf(joinOf(run, aroundLong)),
    };
  };
}

function signsOfPath(path: Path, { whole }: Sums) {
  return {
    pathShare: path.words / whole.words,
    pathRuns: log(path.runs),
    pathWords: path.logs / path.runs,
    pathTexts: path.texts.size / path.runs,
  };
}

function signsOfRepetitions(sums: Sums) {
  const repeated = siblingsOf(sums);
  return ({ around }: Run) => {
    let largest: Kind = { count: 0, characters: 0, words: 0, linked: 0 };
    let inner: Kind | undefined;
    for (const element of around) {
      const kind = repeated(element);
      if (kind.count < MIN_REPEATED) continue;
      inner ??= kind;
      if (kind.characters > largest.characters) largest = kind;
    }
    return {
      repeatedShare: largest.characters / sums.whole.characters,
      repetitions: log(largest.count),
      repeatedWords: log(largest.words / Math.max(1, largest.count)),
      repeatedLinked: largest.linked / Math.max(1, largest.characters),
      innerRepetitions: log(inner?.count ?? 0),
    };
  };
}

function signsOfNeighbours(runs: readonly Run[]) {
  const words = totals(runs, (run) => run.words);
  const logs = totals(runs, (run) => log(run.words));
  const characters = totals(runs, ({ text }) => text.length);
  const linked = totals(runs, (run) => run.linked);
  return (at: number, { start, end }: Section) => {
    const [from, to] = nearby(at, runs.length);
    return {
      headingRuns: log(end - start),
      headingWords: log(words(start, end) / (end - start)),
      headingLinked: linked(start, end) / characters(start, end),
      nearbyWords: logs(from, to) / (to - from),
      nearbyLinked: linked(from, to) / characters(from, to),
    };
  };
}

function signsOfPlace(runs: readonly Run[], sums: Sums) {
  const { whole } = sums;
  const words = totals(runs, (run) => run.words);
  const longest = log(runs.reduce((max, run) => Math.max(max, run.words), 0));
  const known = new Map<PageElement, boolean>();
  const isOfBoilerplate = (element: PageElement) => {
    const is = known.get(element) ?? isBoilerplate(element);
    known.set(element, is);
    return is;
  };
  return (run: Run, at: number) => {
    const { around, tags } = run;
    const [inner] = around;
    const [section, part] = [sums.mostAround(run, 0.6), sums.mostAround(run, 0.3)];
    return {
      position: words(0, at) / whole.words,
      depth: around.length,
      isParagraph: asNumber(tags[0] === 'p' || (inner !== undefined && nameOf(inner) === 'p')),
      isItem: asNumber(tags.includes('li')),
      boilerplate: around.filter(isOfBoilerplate).length,
      sectionLinked: section.linked / section.characters,
      sectionShare: section.characters / whole.characters,
      partLinked: part.linked / part.characters,
      partWords: log(part.words / part.runs),
      longest,
      longShare: whole.long / whole.words,
    };
  };
}

function signsOfText(runs: readonly Run[], title: string) {
  const seen = new Map<string, number>();
  const { inTitle, titleAt } = titleOfRuns(runs, title);
  return ({ text, words }: Run, at: number) => {
    const all = wordsOf(text);
    const plain = all.join('');
    const before = seen.get(plain) ?? 0;
    seen.set(plain, before + 1);
    const shareOf = (pattern: RegExp) => (text.match(pattern) ?? []).length / text.length;
    return {
      seenBefore: log(before),
      sinceTitle: titleAt === undefined || at < titleAt ? -1 : log(at - titleAt),
      isControl: asNumber(words < MAX_CONTROL_WORDS && isOfControls(text)),
      words: log(words),
      endsSentence: asNumber(/[.!?:;。”"')]$/.test(text)),
      capitals: shareOf(/\p{Lu}/gu),
      digits: shareOf(/\d/g),
      inTitle: inTitle(text) / Math.max(1, all.length),
    };
  };
}

function signsOfHeadings(at: number, { heading, level, above }: Section) {
  const short = above.filter(({ length }) => length < MAX_HEADING_CHARACTERS);
  return {
    sinceHeading: heading === undefined ? NO_HEADING : log(at - heading),
    headingLevel: level,
    isElsewhere: asNumber(short.some(leadsElsewhere)),
    isReview: asNumber(short.some(isOfReviews)),
  };
}

const nearby = (at: number, count: number): readonly [from: number, to: number] => [
  Math.max(0, at - NEARBY),
  Math.min(count, at + NEARBY + 1),
];

/** Returns what sums a value over the runs from one number up to another. */
function totals(
  runs: readonly Run[],
  amountOf: (run: Run, at: number) => number,
): (from: number, to: number) => number {
  const all = [0];
  for (const [at, run] of runs.entries()) all.push((all[at] ?? 0) + amountOf(run, at));
  return (from, to) => (all[to] ?? 0) - (all[from] ?? 0);
}
