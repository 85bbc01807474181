import Defuddle from 'defuddle';
import {
  append,
  bodyOf,
  cloneOf,
  closest,
  createElement,
  firstElementOf,
  headOf,
  isDocument,
  lend,
  matches,
  type PageDocument,
  type PageElement,
  page,
  parseHtml,
  remove,
  replaceWith,
  select,
  selectOne,
  setAttribute,
  setText,
  textOf,
  titleOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { announcedIn } from './announced.ts';
import { chosenRuns } from './choose.ts';
import { describedRuns } from './described.ts';
import { type Run, runsOf } from './runs.ts';
import { signsOf } from './signs.ts';

/** Elements whose place in their table matters, also when they are empty. */
const EMPTY = 'img, input, br, hr, td, th';

/** The runs of a body: `all`, and `runs`, those with words; of `runs` the signs, and which are in a description. */
interface RunsAndSigns {
  readonly all: readonly Run[];
  readonly runs: readonly Run[];
  readonly signs: readonly (readonly number[])[];
  readonly described: readonly boolean[] | undefined;
}

/** Reduces the body of a copy of the document, which has only what was painted, to the main content. */
export function reduceToMainContent(copy: PageDocument, body: PageElement): void {
  const { all, runs, signs, described } = readSigns(copy, body);
  const chosen = chosenRuns(runs, body, signs, described, titleOf(page));
  let at = 0;
  for (const { words, nodes } of all) {
    // Without words, an image goes with what is before and after it.
    const isAmongKept = (at === 0 || chosen.has(at - 1)) && (at === runs.length || chosen.has(at));
    const isKept = words > 0 ? chosen.has(at) : isAmongKept;
    if (words > 0) at += 1;
    if (!isKept) nodes.forEach(remove);
  }
  removeEmpty(body);
}

/** Reads the signs of the runs of a copy of the document. */
export function readSigns(copy: PageDocument, body: PageElement): RunsAndSigns {
  const all = runsOf(body);
  const runs = all.filter(({ words }) => words > 0);
  const extracted = extractedRuns(copy, announcedIn(body));
  return { all, runs, signs: signsOf(runs, body, extracted, titleOf(page)), described: describedRuns(runs) };
}

/** Returns the runs that Defuddle takes for main content. */
function extractedRuns(copy: PageDocument, announced: PageElement | undefined): Run[] {
  const doc = cloneOf(copy, true);
  if (!isDocument(doc)) return [];
  const head = headOf(doc);
  if (announced !== undefined && head !== null) {
    // Defuddle looks for the element with this text.
    const script = createElement(doc, 'script');
    setAttribute(script, 'type', 'application/ld+json');
    setText(script, JSON.stringify({ '@type': 'Article', articleBody: textOf(announced) }));
    append(head, script);
  }
  try {
    // It does not drop by score alone: that would leave out sections of documentation and product pages.
    const { content } = new Defuddle(lend(doc), { removeLowScoring: false, url: web.location.href }).parse();
    const body = bodyOf(parseHtml(content));
    return body === null ? [] : runsOf(body);
  } catch {
    // A page can make the library fail; the other signs remain.
    return [];
  }
}

function removeEmpty(body: PageElement): void {
  for (const element of select(body, '*').toReversed()) {
    const isEmpty = firstElementOf(element) === null && textOf(element).trim() === '';
    // An element of white space may be all that is between two words.
    if (isEmpty && !matches(element, EMPTY)) replaceWith(element, textOf(element));
  }
  for (const row of select(body, 'tr')) {
    const isCounted = () => selectOne(closest(row, 'table') ?? row, '[rowspan]') !== null;
    if (textOf(row).trim() === '' && selectOne(row, 'img') === null && !isCounted()) remove(row);
  }
}
