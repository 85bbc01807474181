import { stylesOfPage } from '../dom/computed-style.ts';
import { documentOf, isDocument, type PageRoot } from '../dom/dom.ts';
import { adoptedSheetsOf, adoptSheets } from '../dom/styles.ts';
import { web, windowOf } from '../dom/web.ts';
import { type Candidate, type MarkOf, TextFinder } from './find-texts.ts';
import { type HiddenText, HiddenTexts } from './hidden-texts.ts';
import type { Item } from './items.ts';
import type { PaintedLimits } from './limits.ts';
import { Looker } from './looker.ts';

/** Share of the time in which texts are found; the rest is for looking at them. */
const FINDING_SHARE = 0.4;

/** The painted items of a page in reading order, and its texts that are not painted. */
export interface Painted<Mark> {
  items: Item<Mark>[];
  readonly hidden: HiddenText[];
  /** Number of texts that are not painted; `hidden` has the first ones. */
  unseen: number;
  /** Whether a limit ended the search. */
  partial: boolean;
}

/**
 * Finds the painted text of a page, through open shadow roots and frames of the same origin, and the elements that
 * `markOf` marks.
 */
export function findPainted<Mark = never>(
  limits: PaintedLimits,
  markOf: MarkOf<Mark> = () => undefined,
): Painted<Mark> {
  const startedAt = web.performance.now();
  const styleOf = stylesOfPage();
  const hidden = new HiddenTexts(limits.hidden);
  const finder = new TextFinder(limits, styleOf, hidden, markOf);
  finder.find(startedAt + limits.ms * FINDING_SHARE);
  const restore = prepareLooks(finder.roots, finder.isAnyUntouchable);
  const looker = new Looker(styleOf, finder.floating);
  const { items, partial } = look(finder.candidates, looker, hidden, startedAt + limits.ms);
  restore();
  return { items, hidden: hidden.texts, unseen: hidden.count, partial: partial || finder.isPartial };
}

function look<Mark>(candidates: readonly Candidate<Mark>[], looker: Looker, hidden: HiddenTexts, endsAt: number) {
  const items: Item<Mark>[] = [];
  let isFirst = true;
  for (const { item, sight } of candidates) {
    if (sight === null) {
      items.push(item);
      continue;
    }
    // Finding texts may take all of the time, and some words are better than none.
    if (!isFirst && web.performance.now() > endsAt) return { items, partial: true };
    isFirst = false;
    const why = looker.whyUnseen(sight);
    if (why === '') items.push(item);
    else if (why === null) items.push({ ...item, box: () => null });
    else if ('text' in item && item.node !== null) hidden.add(why, item.node, item.text);
  }
  return { items, partial: false };
}

/** Returns what restores the scroll positions and style sheets that looking changes. */
function prepareLooks(roots: readonly PageRoot[], isAnyUntouchable: boolean): () => void {
  const sheets = isAnyUntouchable ? roots.map(makeTouchable) : [];
  const views = new Set(roots.map((root) => windowOf(isDocument(root) ? root : documentOf(root))));
  const places = [...views].flatMap((view) => (view === null ? [] : [{ view, left: view.scrollX, top: view.scrollY }]));
  return () => {
    for (const { view, left, top } of places) view.scrollTo({ left, top, behavior: 'instant' });
    for (const restore of sheets) restore();
  };
}

/** Lets hit tests find all elements of a tree, also those without pointer events. Returns a function that undoes it. */
function makeTouchable(root: PageRoot): () => void {
  try {
    const view = windowOf(isDocument(root) ? root : documentOf(root));
    if (view === null) return () => {};
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync('* { pointer-events: auto !important }');
    const before = adoptedSheetsOf(root);
    adoptSheets(root, [...before, sheet]);
    return () => adoptSheets(root, before);
  } catch {
    return () => {};
  }
}
