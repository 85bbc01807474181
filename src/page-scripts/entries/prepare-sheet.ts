import { rowsBeforeFixed } from '../behind-scrolling.ts';
import { bodyOf, type PageElement, page, rootElementOf } from '../dom.ts';
import { noteHeights } from '../heights.ts';
import { treesIn } from '../open-trees.ts';
import { search } from '../positioned.ts';
import { setStyle } from '../set-style.ts';
import { adopt } from '../styles.ts';
import { web } from '../web.ts';

const UNBROKEN = { 'break-before': 'auto', 'break-after': 'auto', page: 'auto' };
/** For generated content, and where a shadow tree's rule wins over an element's own style. Ids win over classes. */
const ANY = ':is(*, #x#x)';
const RULE = `${ANY}::before, ${ANY}::after, :host(${ANY}), ::slotted(${ANY}) { ${Object.entries(UNBROKEN)
  .map(([name, value]) => `${name}: ${value} !important`)
  .join('; ')} }`;

/**
 * Removes breaks between pages, and notes heights that `keep-heights` keeps. Returns whether the page is written in
 * columns, from right to left or from left to right.
 */
export function run(): boolean {
  const sheet = new web.CSSStyleSheet();
  sheet.replaceSync(RULE);
  for (const tree of treesIn(page)) adopt(tree, sheet);
  // Important rules in a cascade layer win over those of the sheet, but not over an element's own style.
  for (const element of search(breaks)) setStyle(element, UNBROKEN);
  // Notes the backdrops, whose heights are not kept: they are as high as the sheet.
  rowsBeforeFixed();
  noteHeights();
  const roots = [rootElementOf(page), bodyOf(page)].filter((each) => each !== null);
  return roots.some((each) => !web.getComputedStyle(each).writingMode.startsWith('horizontal'));
}

function breaks(element: PageElement): boolean {
  const style = web.getComputedStyle(element);
  return [style.breakBefore, style.breakAfter, style.page].some((value) => value !== 'auto');
}
