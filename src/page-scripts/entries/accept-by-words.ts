import { folded } from '../../words/folded.ts';
import { ACCEPT, ACKNOWLEDGE, NAMED, SUBJECT } from '../banner/words.ts';
import {
  attribute,
  bodyOf,
  boxOf,
  click,
  drawnTextOf,
  isHtml,
  isVisible,
  nameOf,
  type PageElement,
  page,
  parentElementOf,
  select,
} from '../dom.ts';
import { web } from '../web.ts';

/** Maximum number of buttons that are looked at, and of characters of a banner. */
const MAX_BUTTONS = 2_000;
const MAX_BANNER_CHARACTERS = 5_000;

const BUTTONS = 'button, [role="button"], input[type="button"], input[type="submit"], a';
/** Symbols before and after the words of a button. */
const SYMBOLS = /[✓✔×✕→«»"'“”]+$|^[✓✔×✕→«»"“”]+/gu;
const OVER_THE_PAGE = new Set(['fixed', 'sticky', 'absolute']);

/**
 * Finds the first box that is about cookies and lies over the page, or is named after cookies. Clicks its button that
 * accepts, or the one that acknowledges when there is no other choice.
 */
export function run(): 'accepted' | 'acknowledged' | 'none' {
  const buttons = select(page, BUTTONS).slice(0, MAX_BUTTONS).filter(isHtml);
  if (clickFirst(buttons, ACCEPT)) return 'accepted';
  return clickFirst(buttons, ACKNOWLEDGE) ? 'acknowledged' : 'none';
}

function clickFirst(buttons: readonly PageElement[], words: RegExp): boolean {
  const button = buttons.find((each) => words.test(wordsOf(each)) && isSeen(each) && isInBanner(each));
  if (button !== undefined) click(button);
  return button !== undefined;
}

function wordsOf(button: PageElement): string {
  const text = nameOf(button) === 'input' ? (attribute(button, 'value') ?? '') : shownTextOf(button);
  const words = text || (attribute(button, 'aria-label') ?? '');
  return folded(words).replace(SYMBOLS, '').trim();
}

function isSeen(button: PageElement): boolean {
  const { width, height } = boxOf(button);
  return width > 0 && height > 0 && isVisible(button, { opacityProperty: true, visibilityProperty: true });
}

function isInBanner(button: PageElement): boolean {
  const body = bodyOf(page);
  for (let box = parentElementOf(button); box !== null && box !== body; box = parentElementOf(box)) {
    if (!isOver(box)) continue;
    const text = shownTextOf(box);
    if (text.length <= MAX_BANNER_CHARACTERS && SUBJECT.test(folded(text))) return true;
  }
  return false;
}

function isOver(box: PageElement): boolean {
  return (
    OVER_THE_PAGE.has(web.getComputedStyle(box).position) ||
    nameOf(box) === 'dialog' ||
    /dialog/.test(attribute(box, 'role') ?? '') ||
    NAMED.test(`${attribute(box, 'id') ?? ''} ${attribute(box, 'class') ?? ''}`)
  );
}

/** The text that an element shows; none for elements of SVG, in which a button can be. */
function shownTextOf(element: PageElement): string {
  return isHtml(element) ? drawnTextOf(element).trim() : '';
}
