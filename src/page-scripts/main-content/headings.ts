import type { Run } from './runs.ts';
import { wordsOf } from './wording.ts';

/** The headings above a run, and the runs between the last one and the next. */
export interface Section {
  /** Number of the run of the last heading; undefined before the first. */
  readonly heading: number | undefined;
  readonly level: number;
  /** The texts of the headings above, outermost first. */
  readonly above: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Returns the section of each run. */
export function sectionsOf(runs: readonly Run[]): Section[] {
  const ends = endsOf(runs);
  let headings: readonly Run[] = [];
  let heading: number | undefined;
  return runs.map((run, at) => {
    if (run.level > 0) {
      headings = [...headings.filter((each) => each.level < run.level), run];
      heading = at;
    }
    const above = headings.map(({ text }) => text);
    return { heading, level: headings.at(-1)?.level ?? 0, above, start: heading ?? 0, end: ends[at] ?? runs.length };
  });
}

/** Returns, for each run, the number of the next heading. */
function endsOf(runs: readonly Run[]): number[] {
  const ends: number[] = [];
  let next = runs.length;
  for (const [at, { level }] of [...runs.entries()].toReversed()) {
    ends[at] = next;
    if (level > 0) next = at;
  }
  return ends;
}

/**
 * Returns what counts the words of a text that are in a title, and the run of the page's heading that has most of them.
 */
export function titleOfRuns(runs: readonly Run[], title: string) {
  const titled = new Set(wordsOf(title));
  const inTitle = (text: string) => wordsOf(text).filter((word) => titled.has(word)).length;
  let [titleAt, most]: [number | undefined, number] = [undefined, -1];
  for (const [at, { level, text }] of runs.entries()) {
    const matches = level === 1 ? inTitle(text) : -1;
    if (matches > most) [titleAt, most] = [at, matches];
  }
  return { inTitle, titleAt };
}

/**
 * Returns the number of the run that is always main content as the page's title, if there is one: the first heading of
 * the first level, or else the longest heading whose text is part of the document's title.
 */
export function shownTitle(runs: readonly Run[], title: string): number | undefined {
  const plain = (text: string) => ` ${wordsOf(text).join(' ')} `;
  const whole = plain(title);
  const isPart = ({ level, text }: Run) => level > 0 && wordsOf(text).length > 0 && whole.includes(plain(text));
  const [longest] = runs.filter(isPart).toSorted((one, other) => other.words - one.words);
  const shown = runs.find(({ level }) => level === 1) ?? longest;
  return shown && runs.indexOf(shown);
}
