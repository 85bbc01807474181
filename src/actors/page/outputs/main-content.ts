import { ANNOUNCED, DESCRIBED } from './announced.ts';
import { RUNS } from './runs.ts';
import { SIGN_NAMES, SIGNS } from './signs.ts';
import { BASE, TREES } from './trees.ts';

/** Defuddle does not drop by score alone: that would leave out sections of documentation and product pages. */
const DEFUDDLE_OPTIONS = { removeLowScoring: false };
/** Factor for the probability of runs that are mostly links, under a heading such as "Related". */
const ELSEWHERE_FACTOR = 0.5;
/**
 * Added to the logarithm of the odds of runs in the announced description of a product, and taken from that of all others.
 * Measured: the F1 of products rises from 0.58 to 0.64 in five folds; 1.5 and 2.5 gain less.
 */
const DESCRIBED_ODDS = 2;
/** Number of splits on the way to a leaf of a tree, and of all splits of a tree. */
const DEPTH = 3;
const SPLITS = 2 ** DEPTH - 1;
/** Minimum number of words of a run that is left out when its text is selected elsewhere. */
const MIN_COPIED_WORDS = 5;
/** Maximum number of characters of a cell in a table of data; longer ones are parts of a layout. */
const MAX_CELL_CHARACTERS = 300;

/**
 * Runs in the page. Decides which runs are main content: those with which the expected F1 score of the words is
 * highest. A table is selected or left out as a whole, and selected when it is between selected runs. A heading is
 * selected with what follows it, and the title of the page always is. A text that occurs at several places is included
 * once, from its likeliest place; sites repeat texts for phones, excerpts and quotations.
 */
const CHOOSE = `(runs, body, signs, described) => {
  const trees = [${TREES.map((tree) => `[${tree}]`)}];
  const chances = signs.map((values, at) => {
    let odds = ${BASE};
    if (described !== undefined) odds += described[at] ? ${DESCRIBED_ODDS} : -${DESCRIBED_ODDS};
    for (const tree of trees) {
      let node = 0;
      for (let depth = 0; depth < ${DEPTH}; depth += 1) node = 2 * node + (values[tree[2 * node]] >= tree[2 * node + 1] ? 2 : 1);
      odds += tree[${SPLITS} + node];
    }
    const leadsElsewhere = values[${SIGN_NAMES.indexOf('isElsewhere')}] === 1 && values[${SIGN_NAMES.indexOf('headingLinked')}] >= 0.5;
    return (leadsElsewhere ? ${ELSEWHERE_FACTOR} : 1) / (1 + Math.exp(-odds));
  });
  const isOfData = (table) => table.querySelector('table, h1, h2, h3, h4, h5, h6') === null
    && [...table.querySelectorAll('td')].every(({ textContent }) => textContent.length < ${MAX_CELL_CHARACTERS});
  const tables = new Map([...body.querySelectorAll('table')].filter(isOfData).map((table) => [table, []]));
  runs.forEach(({ around }, at) => tables.get(around.find((element) => tables.has(element)))?.push(at));
  for (const cells of tables.values()) {
    const words = cells.reduce((sum, at) => sum + runs[at].words, 0);
    const chance = cells.reduce((sum, at) => sum + runs[at].words * chances[at], 0) / words;
    for (const at of cells) chances[at] = chance;
  }

  const order = runs.map((_, at) => at).toSorted((one, other) => chances[other] - chances[one]);
  const expected = order.reduce((sum, at) => sum + runs[at].words * chances[at], 0);
  let [found, taken, best, count] = [0, 0, 0, 0];
  order.forEach((at, before) => {
    found += runs[at].words * chances[at];
    taken += runs[at].words;
    const f1 = (2 * found) / (taken + expected);
    if (f1 >= best) [best, count] = [f1, before + 1];
  });
  const chosen = new Set(order.slice(0, count));
  for (const cells of tables.values()) {
    if (chosen.has(Math.min(...cells) - 1) && chosen.has(Math.max(...cells) + 1)) for (const at of cells) chosen.add(at);
  }
  const isAlike = (one, other) =>
    one.length === other.length
    && one.every(({ localName, className }, at) => localName === other[at].localName && className === other[at].className);
  const placesOfTexts = new Map();
  for (const at of order.slice(0, count)) {
    const { text, words, level, tags, around } = runs[at];
    const isCell = around.some((element) => tables.has(element));
    if (words < ${MIN_COPIED_WORDS} || level > 0 || tags.includes('pre') || isCell) continue;
    // The entries of a list may all have the same note.
    if (placesOfTexts.has(text) && !isAlike(around, placesOfTexts.get(text))) chosen.delete(at);
    else placesOfTexts.set(text, around);
  }
  const next = runs.map((_, at) => chosen.has(at + 1));
  runs.forEach(({ level }, at) => {
    if (level > 1 && at + 1 < runs.length && runs[at + 1].level === 0) chosen[next[at] ? 'add' : 'delete'](at);
  });
  const title = runs.findIndex(({ level }) => level === 1);
  if (title !== -1) chosen.add(title);
  return chosen;
}`;

/** Elements whose place in their table matters, also when they are empty. */
const EMPTY = 'img, br, hr, td, th';

/**
 * Runs in the page, on a copy of the document with only what was painted. Returns the runs of its body: `all`, and
 * `runs`, those with words; of `runs` the signs, and what `DESCRIBED` returns.
 */
const READ_SIGNS = `(copy, url, { Defuddle }) => {
  const { body } = copy;
  const runsOf = ${RUNS};
  const announced = (${ANNOUNCED})(copy);
  const extract = () => {
    const doc = copy.cloneNode(true);
    if (announced !== undefined) {
      // Defuddle looks for the element with this text.
      const script = doc.createElement('script');
      script.type = 'application/ld+json';
      script.textContent = JSON.stringify({ '@type': 'Article', articleBody: announced.textContent });
      doc.head.append(script);
    }
    try {
      const { content } = new Defuddle(doc, { ...${JSON.stringify(DEFUDDLE_OPTIONS)}, url }).parse();
      return runsOf(DOMParser.prototype.parseFromString.call(new DOMParser(), content, 'text/html').body);
    } catch {
      // A page can make the library fail; the other signs remain.
      return [];
    }
  };
  const { get: titleOf } = Object.getOwnPropertyDescriptor(Document.prototype, 'title');
  const all = runsOf(body);
  const runs = all.filter(({ words }) => words > 0);
  return { all, runs, signs: (${SIGNS})(runs, body, extract(), titleOf.call(document)), described: (${DESCRIBED})(runs) };
}`;

/**
 * Runs in the page, on a copy of the document with only what was painted, which it changes. Returns its body, reduced
 * to the main content.
 */
export const MAIN_CONTENT = `(copy, url, libraries) => {
  const { body } = copy;
  const { all, runs, signs, described } = (${READ_SIGNS})(copy, url, libraries);
  const chosen = (${CHOOSE})(runs, body, signs, described);
  let at = 0;
  for (const { words, nodes } of all) {
    // Without words, an image goes with what is before and after it.
    const isKept = words > 0 ? chosen.has(at) : (at === 0 || chosen.has(at - 1)) && (at === runs.length || chosen.has(at));
    if (words > 0) at += 1;
    if (!isKept) for (const node of nodes) node.remove();
  }
  for (const element of [...body.querySelectorAll('*')].toReversed()) {
    const isEmpty = element.firstElementChild === null && element.textContent.trim() === '';
    // An element of white space may be all that is between two words.
    if (isEmpty && !element.matches('${EMPTY}')) element.replaceWith(element.textContent);
  }
  for (const row of body.querySelectorAll('tr')) {
    if (row.textContent.trim() === '' && row.querySelector('img') === null) row.remove();
  }
  return body;
}`;
