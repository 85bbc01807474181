import { bodyOf, type PageElement, type PageRoot, page, rootElementOf, select } from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { setStyle } from '../dom/set-style.ts';
import { adopt } from '../dom/styles.ts';
import { web } from '../dom/web.ts';
import { lookOf, showsMore } from '../scrolled/looks.ts';
import { hidePopups } from '../scrolled/popups.ts';
import { scrolledBefore } from '../scrolled/state.ts';
import { attachBackdrops } from '../whole-page/attach-backdrops.ts';
import { type Rows, rowsBeforeFixed } from '../whole-page/behind-scrolling.ts';
import { noteHeights } from '../whole-page/heights.ts';

/**
 * Renders what `content-visibility: auto` skips outside the window, scrolls to the top, keeps the looks that were seen
 * while scrolling, and lets no transition begin, through open shadow roots. Returns the number of elements of the page,
 * and the rows that look otherwise when it is scrolled to them.
 */
export function showWhole(): { elements: number; beforeFixed: Rows[] } {
  const elements = treesIn(page).flatMap((tree) => [...select(tree, '*')]);
  for (const element of elements) {
    if (web.getComputedStyle(element).contentVisibility !== 'auto') continue;
    setStyle(element, { 'content-visibility': 'visible' });
  }
  web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
  keepLooks();
  endTransitions();
  return { elements: elements.length, beforeFixed: rowsBeforeFixed() };
}

/** Returns whether a reader can scroll the page sideways: by the root's overflow, or else the body's. */
export function scrollsSideways(): boolean {
  const overflowOf = (element: PageElement | null) =>
    element === null ? 'visible' : web.getComputedStyle(element).overflowX;
  const overflow = [rootElementOf(page), bodyOf(page)].map(overflowOf).find((each) => each !== 'visible');
  return overflow !== 'hidden' && overflow !== 'clip';
}

/** Keeps the looks that were seen while the page was scrolled, before it is printed. */
export function keepLooksOnPaper(): void {
  keepLooks();
  attachBackdrops();
}

const UNBROKEN = { 'break-before': 'auto', 'break-after': 'auto', page: 'auto' };
/** For generated content, and where a shadow tree's rule wins over an element's own style. Ids win over classes. */
const ANY = ':is(*, #x#x)';
const rule = () =>
  `${ANY}::before, ${ANY}::after, :host(${ANY}), ::slotted(${ANY}) { ${Object.entries(UNBROKEN)
    .map(([name, value]) => `${name}: ${value} !important`)
    .join('; ')} }`;

/**
 * Removes breaks between pages, and notes heights that `keepHeights` keeps. Returns whether the page is written in
 * columns, from right to left or from left to right.
 */
export function prepareSheet(): boolean {
  removeBreaksOf(treesIn(page));
  // Notes the backdrops, whose heights are not kept: they are as high as the sheet.
  rowsBeforeFixed();
  noteHeights();
  const roots = [rootElementOf(page), bodyOf(page)].filter((each) => each !== null);
  return roots.some((each) => !web.getComputedStyle(each).writingMode.startsWith('horizontal'));
}

/** Removes breaks between pages from documents and shadow trees, not from shadow trees in them. */
export function removeBreaks(...trees: PageRoot[]): void {
  removeBreaksOf(trees);
}

/** Like `removeBreaks`, of any number of trees. */
function removeBreaksOf(trees: readonly PageRoot[]): void {
  const sheet = new web.CSSStyleSheet();
  sheet.replaceSync(rule());
  for (const tree of trees) adopt(tree, sheet);
  // Important rules in a cascade layer win over those of the sheet, but not over an element's own style.
  for (const tree of trees) for (const element of select(tree, '*').filter(breaks)) setStyle(element, UNBROKEN);
}

function breaks(element: PageElement): boolean {
  const style = web.getComputedStyle(element);
  return [style.breakBefore, style.breakAfter, style.page].some((value) => value !== 'auto');
}

/**
 * Lets no further transition begin. For a screenshot beyond the window, Chromium briefly lays the page out in a window
 * without a size. Elements whose style depends on the window's width would then be shown in the middle of a transition.
 * Transitions that are running continue.
 */
function endTransitions(): void {
  const sheet = new web.CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { transition-duration: 0s !important; transition-delay: 0s !important }');
  for (const tree of treesIn(page)) adopt(tree, sheet);
}

/**
 * Gives elements the look that they had in the middle of the window, when the page has hidden them since, and hides
 * what came over the window while it was scrolled. Call it at the top of the page, after its HTML was read.
 */
function keepLooks(): void {
  const state = scrolledBefore();
  if (state === undefined) return;
  const kept = [...state.looks].filter(([element, { look, follows }]) => follows || showsMore(look, lookOf(element)));
  for (const [element, { look }] of kept) setStyle(element, { ...Object.fromEntries(look), transition: 'none' });
  hidePopups(state);
}
