import { type PageElement, select, selectOne, textOf } from '../dom/dom.ts';
import { texOf } from '../markdown/formulas.ts';
import { chancesOf, MIN_COPIED_WORDS } from './chance.ts';
import { shownTitle } from './headings.ts';
import { type Path, pathsOf } from './kinds.ts';
import { isAlike, type Run } from './runs.ts';

/** Maximum number of characters of a cell or item in a table or list of data; longer ones are parts of a layout. */
const MAX_CELL_CHARACTERS = 300;

const LISTS = 'ul, ol, dl';
/** How far the chance of a run moves to that of all runs at its path. Measured: 0.4 gains 0.001 of F1 in five folds. */
const SHARED = 0.4;
/** Minimum distance of a chance from 0 and 1. */
const MIN_DOUBT = 1e-6;

/** Tables and lists of data, with the numbers of the runs in each. */
type Wholes = ReadonlyMap<PageElement, number[]>;

/**
 * Decides which runs are main content: those with which the expected F1 score of the words is highest. A table is
 * selected or left out as a whole, with its caption, and selected when it is between selected runs. So is a list that is
 * not mostly links; a list is also selected when most of its words are, and when a selected text introduces it. A
 * displayed formula is selected with the text before it, a heading with what follows it, and the title of the page
 * always. A text that occurs at several places is included once, from its likeliest place; sites repeat texts for
 * phones, excerpts and quotations.
 */
export function chosenRuns(
  runs: readonly Run[],
  body: PageElement,
  signs: readonly (readonly number[])[],
  described: readonly boolean[] | undefined,
  title: string,
): ReadonlySet<number> {
  const tables = wholesOfData(runs, body, 'table');
  const likely = sharedOnPaths(chancesOf(signs, described), runs, pathsOf(runs, body, new Set()));
  const chances = sharedInTables(likely, runs, tables);
  const chanceAt = (at: number) => chances[at] ?? 0;
  const order = [...runs.keys()].toSorted((one, other) => chanceAt(other) - chanceAt(one));
  const best = order.slice(0, bestCount(order, runs, chanceAt));
  const chosen = new Set(best);
  for (const cells of tables.values()) {
    if (chosen.has(Math.min(...cells) - 1) && chosen.has(Math.max(...cells) + 1))
      for (const at of cells) chosen.add(at);
  }
  for (const cells of tables.values()) {
    if (cells.some((at) => chosen.has(at))) for (const at of captionsOf(cells, runs)) chosen.add(at);
  }
  completeLists(chosen, runs, body);
  for (const at of copiesAmong(best, runs, tables)) chosen.delete(at);
  chooseFormulas(chosen, runs);
  chooseHeadings(chosen, runs);
  const titleAt = shownTitle(runs, title);
  if (titleAt !== undefined) chosen.add(titleAt);
  return chosen;
}

/** Returns the outermost tables and lists whose cells and items are short, and have no headings and tables. */
function wholesOfData(runs: readonly Run[], body: PageElement, names: string): Wholes {
  const isOfData = (whole: PageElement) =>
    selectOne(whole, 'table, h1, h2, h3, h4, h5, h6') === null &&
    select(whole, 'td, li:not(:has(li)), dd').every((cell) => textOf(cell).length < MAX_CELL_CHARACTERS);
  const known = new Set(select(body, names).filter(isOfData));
  const wholes = new Map<PageElement, number[]>();
  for (const [at, { around }] of runs.entries()) {
    const whole = around.findLast((element) => known.has(element));
    if (whole === undefined) continue;
    const cells = wholes.get(whole) ?? [];
    wholes.set(whole, cells);
    cells.push(at);
  }
  return wholes;
}

/** Moves the chances of runs at the same path of elements towards each other: the entries of a list are alike. */
function sharedOnPaths(chances: readonly number[], runs: readonly Run[], paths: readonly Path[]): number[] {
  const sums = new Map<Path, number>();
  const oddsAt = (at: number) => {
    const chance = Math.min(1 - MIN_DOUBT, Math.max(MIN_DOUBT, chances[at] ?? 0));
    return Math.log(chance / (1 - chance));
  };
  for (const [at, path] of paths.entries()) sums.set(path, (sums.get(path) ?? 0) + (runs[at]?.words ?? 0) * oddsAt(at));
  return paths.map((path, at) => {
    const odds = (1 - SHARED) * oddsAt(at) + (SHARED * (sums.get(path) ?? 0)) / path.words;
    return 1 / (1 + Math.exp(-odds));
  });
}

/** Gives all cells of a table the chance of its words on average. */
function sharedInTables(chances: readonly number[], runs: readonly Run[], tables: Wholes): number[] {
  const shared = [...chances];
  for (const cells of tables.values()) {
    const sumOf = (amountAt: (at: number) => number) => cells.reduce((sum, at) => sum + amountAt(at), 0);
    const wordsAt = (at: number) => runs[at]?.words ?? 0;
    const chance = sumOf((at) => wordsAt(at) * (chances[at] ?? 0)) / sumOf(wordsAt);
    for (const at of cells) shared[at] = chance;
  }
  return shared;
}

/** Returns how many of the likeliest runs have the highest expected F1 score. */
function bestCount(order: readonly number[], runs: readonly Run[], chanceAt: (at: number) => number): number {
  const expected = order.reduce((sum, at) => sum + (runs[at]?.words ?? 0) * chanceAt(at), 0);
  let [found, taken, best, count] = [0, 0, 0, 0];
  for (const [before, at] of order.entries()) {
    const words = runs[at]?.words ?? 0;
    found += words * chanceAt(at);
    taken += words;
    const f1 = (2 * found) / (taken + expected);
    if (f1 >= best) [best, count] = [f1, before + 1];
  }
  return count;
}

/** Returns the runs whose text is among likelier ones already. */
function copiesAmong(best: readonly number[], runs: readonly Run[], tables: Wholes): readonly number[] {
  const first = new Map<string, Run>();
  return best.filter((at) => {
    const run = runs[at];
    if (run === undefined) return false;
    const isCell = run.around.some((element) => tables.has(element));
    if (run.words < MIN_COPIED_WORDS || run.level > 0 || run.tags.includes('pre') || isCell) return false;
    const same = first.get(run.text);
    // The entries of a list may all have the same note.
    if (same !== undefined && !isAlike(run, same)) return true;
    first.set(run.text, run);
    return false;
  });
}

/** Returns the run before or after a table that stands alone with it in an element. */
function captionsOf(cells: readonly number[], runs: readonly Run[]): readonly number[] {
  const [first, last] = [Math.min(...cells), Math.max(...cells)];
  const around = runs[first]?.around ?? [];
  const isIn = (element: PageElement, at: number) => runs[at]?.around.includes(element) === true;
  const isAlone = (from: number, to: number) =>
    around.some((each) => isIn(each, from) && isIn(each, to) && !isIn(each, from - 1) && !isIn(each, to + 1));
  return [first - 1, last + 1].filter((at) => isAlone(Math.min(at, first), Math.max(at, last)));
}

/** Selects lists as a whole that belong to what is selected. */
function completeLists(chosen: Set<number>, runs: readonly Run[], body: PageElement): void {
  for (const items of wholesOfData(runs, body, LISTS).values()) {
    if (isMostlyChosen(items, chosen, runs) || isIntroduced(items, chosen, runs) || isAmidst(items, chosen, runs)) {
      for (const at of items) chosen.add(at);
    }
  }
}

/** Whether at least half of the words of a list are selected. */
function isMostlyChosen(items: readonly number[], chosen: ReadonlySet<number>, runs: readonly Run[]): boolean {
  const wordsOf = (some: readonly number[]) => some.reduce((sum, at) => sum + (runs[at]?.words ?? 0), 0);
  return 2 * wordsOf(items.filter((at) => chosen.has(at))) >= wordsOf(items);
}

/** Whether a selected text before a list ends with a colon. */
function isIntroduced(items: readonly number[], chosen: ReadonlySet<number>, runs: readonly Run[]): boolean {
  const before = Math.min(...items) - 1;
  return chosen.has(before) && runs[before]?.level === 0 && /[:：]$/.test(runs[before].text);
}

/** Whether a list is between selected runs, and not mostly links. */
function isAmidst(items: readonly number[], chosen: ReadonlySet<number>, runs: readonly Run[]): boolean {
  if (!chosen.has(Math.min(...items) - 1) || !chosen.has(Math.max(...items) + 1)) return false;
  const of = items.flatMap((at) => runs[at] ?? []);
  return of.reduce((sum, { linked, text }) => sum + linked - text.length / 2, 0) < 0;
}

function chooseFormulas(chosen: Set<number>, runs: readonly Run[]): void {
  for (const [at, { around }] of runs.entries()) {
    if (chosen.has(at - 1) && around.some((element) => texOf(element) !== null)) chosen.add(at);
  }
}

function chooseHeadings(chosen: Set<number>, runs: readonly Run[]): void {
  const isNextChosen = runs.map((_, at) => chosen.has(at + 1));
  for (const [at, { level }] of runs.entries()) {
    if (level > 1 && runs[at + 1]?.level === 0) chosen[isNextChosen[at] ? 'add' : 'delete'](at);
  }
}
